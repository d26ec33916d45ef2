"""Many cases for the price of few: queries that run together, on rows that come in many ways.

A block has some queries and some sets of rows. What the queries mean on rows is computed once, and
held against what they answer with every split into ticks, order within the slack, number of
partitions and fabric that is drawn. Each such combination of a query and a way is a case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import cycle
from random import Random
from typing import Final

import polars as pl

from tests.checking.plans import Inputs, reference_of
from tests.checking.queries import engine_with, plan_of, run_script
from tests.checking.sources import run_together
from tests.fabrics.simulated import Elsewhere, Rough
from tests.random.cases import random_inputs
from tests.random.plans import PlanGenerator
from tests.random.queries import QueryGenerator
from tests.random.relations import CHANGING, TEMPORAL, RelationPlanGenerator
from tests.random.splits import variants
from tests.random.versions import random_versions
from tests.simulation.case import real_folder
from tests.simulation.disk import SimulatedDisk
from tidemill.algebra import Plan, render
from tidemill.optimize import optimize
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec, empty_batch
from tidemill.reference import LogicalStream
from tidemill.runtime.fabric import Fabric, InProcess
from tidemill.store import Store, using
from tidemill.testing.reference import NO_FUNCTIONS, Functions, check_result

_LATEST, _ROWS = 8, (0, 4)  # few rows and instants: their combinations are what matters here
_TEXTS, _PLANS, _SETS, _WAYS = 2, 23, 2, 14

AS_THEY_COME: Final = "as they come"
"""The arrangement with late rows; the others have those rows that were in time."""

_ARRANGEMENTS: Final = (
    *[AS_THEY_COME] * 4,
    *["all in one tick"] * 4,
    *["other ticks", "other ticks and slack"] * 2,
    "one row per tick",
)
FABRICS: Final = (*["in process"] * 8, *["packed"] * 4, "pickled", "rough")
_PARTITIONS: Final = (*[1] * 8, *[2] * 3, 3, 4)


@dataclass(frozen=True)
class Asked:
    """A query: its text, what it means, and how it is run."""

    text: str
    plan: Plan
    physical: Exec
    functions: Functions

    @staticmethod
    def of(text: str, plan: Plan, functions: Functions = NO_FUNCTIONS) -> Asked:
        physical = lower(optimize(plan, functions=dict(functions)), dict(functions))
        return Asked(text, plan, physical, functions)


@dataclass(frozen=True)
class Way:
    """How rows come, and who works on them."""

    arrangement: str
    inputs: Inputs
    fabric: str
    partitions: int

    def answers(self, queries: Mapping[str, Asked], random: Random) -> dict[str, pl.DataFrame]:
        """What queries that run together answer in all."""
        plans = {name: asked.physical for name, asked in queries.items()}
        given = {name: [empty_batch(asked.plan.schema)] for name, asked in queries.items()}
        late: dict[str, int] = {}
        with self._opened(random) as (fabric, store):
            sources = self.inputs.sources(store)
            for tick in run_together(plans, sources, fabric, store, late):
                for name, rows in tick.items():
                    given[name].append(rows)
        wanted = {name: stream.late_rows for name, stream in self.inputs.streams.items()}
        found = {name: late[name] for name in wanted}
        assert found == wanted, f"late rows: {found}, not {wanted}"
        return {name: pl.concat(parts) for name, parts in given.items()}

    @contextmanager
    def _opened(self, random: Random) -> Iterator[tuple[Fabric, Store | None]]:
        """The fabric, and a folder in memory if tasks travel."""
        if self.fabric in ("in process", "packed"):
            yield InProcess(self.partitions, self.fabric == "packed"), None
            return
        disk = SimulatedDisk(real_folder(), random)
        with using(disk):
            rough = self.fabric == "rough"
            fabric = Rough(self.partitions, random) if rough else Elsewhere(self.partitions)
            yield fabric, Store(f"{disk.root}/run", "process")

    def __str__(self) -> str:
        where = f"{self.fabric}, partitions: {self.partitions}"
        return f"{self.arrangement}, {where}\n{self.inputs}"


@dataclass
class Block:
    """Some queries on some rows, in many ways: how many cases survived, and what did not."""

    seed: int
    cases: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    @property
    def again(self) -> str:
        """How to see it once more."""
        return f"python -m tests.fuzz --cases 1 --seed {self.seed}"

    def check(self) -> Block:
        """Run all cases; those that fail are told in the end."""
        random = Random(self.seed)
        queries = {f"q{number}": asked for number, asked in enumerate(_queries(random))}
        fabrics = cycle(random.sample(FABRICS, len(FABRICS)))
        for _ in range(_SETS):
            inputs = _inputs(random)
            meant = {n: reference_of(q.plan, inputs, q.functions) for n, q in queries.items()}
            for way in _ways(random, inputs, fabrics):
                self._check(way, queries, meant, random)
        return self

    def _check(
        self,
        way: Way,
        queries: Mapping[str, Asked],
        meant: Mapping[str, LogicalStream],
        random: Random,
    ) -> None:
        try:
            answers = way.answers(queries, random)
        except Exception as error:
            texts = [asked.text for asked in queries.values()]
            self._failed("\n\n".join(texts), way, error)
            return
        for name, asked in queries.items():
            try:
                check_result(answers[name].to_arrow(), meant[name])
                self.cases[way.fabric] += 1
            except AssertionError as error:
                self._failed(asked.text, way, error)

    def _failed(self, text: str, way: Way, error: Exception) -> None:
        reason = f"{type(error).__name__}: {error}"
        self.failures.append("\n\n".join([self.again, text, str(way), reason]))


def _queries(random: Random) -> Iterator[Asked]:
    """SQL, or plans of the algebra, perhaps over relations: SQL takes ten times as long.

    Plans share windows, as queries of a graph do.
    """
    for _ in range(_TEXTS):
        script = QueryGenerator(random).script()
        engine = engine_with(_inputs(random))
        plan = plan_of(run_script(script, engine))
        yield Asked.of(script, plan, engine.catalog.functions)
    for make in (PlanGenerator, RelationPlanGenerator):
        for plan in make(random).plans(random.choices([1, 2], [3, 1], k=_PLANS)):
            yield Asked.of(render(plan), plan)


def _inputs(random: Random) -> Inputs:
    return replace(
        random_inputs(random, latest=_LATEST, rows=_ROWS),
        temporal={TEMPORAL: random_versions(random, _LATEST)},
        changing={CHANGING: random_versions(random, _LATEST)},
        arrival=random.randrange(1000),
    )


def _ways(random: Random, inputs: Inputs, fabrics: Iterator[str]) -> Iterator[Way]:
    for _ in range(_WAYS):
        arranged = {AS_THEY_COME: inputs, **variants(random, inputs)}
        name = random.choice(_ARRANGEMENTS)
        yield Way(name, arranged[name], next(fabrics), random.choice(_PARTITIONS))
