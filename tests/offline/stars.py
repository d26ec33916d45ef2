"""Small star joins, of the golden data or random, in the shapes that their solvers take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pyarrow as pa

from experiments.offline import BestJoin, best_join
from experiments.offline.graphs import Arrival, By, Fact, StarGraphs
from tests.reference.shedding import Result, StreamRow, Version, run_shedding
from tidemill.algebra import Policy, Shedding
from tidemill.timeline import OPEN_END


@dataclass(frozen=True)
class Star:
    """Two streams, the facts between them, a bound on memory and the life of tuples."""

    r: tuple[Arrival, ...]
    s: tuple[Arrival, ...]
    facts: tuple[Fact, ...]
    memory: int
    life: int

    def with_memory(self, memory: int) -> Star:
        return replace(self, memory=memory)

    def graphs(self, by: By = "importance") -> StarGraphs:
        return StarGraphs(self.r, self.s, self.facts, self.memory, self.life, by)

    def best(self, by: By = "importance", split: int = 1) -> BestJoin:
        return best_join(
            *self.tables(),
            memory=self.memory,
            life=self.life,
            time="ts",
            keys=("a", "b"),
            importance="importance",
            active=("begin", "end"),
            by=by,
            split=split,
        )

    def tables(self) -> tuple[pa.Table, pa.Table, pa.Table]:
        r, s = (
            pa.table(
                {
                    "ts": pa.array([each.ts for each in stream], pa.int64()),
                    key: pa.array([each.value for each in stream], pa.int64()),
                    "importance": pa.array([each.importance for each in stream], pa.float64()),
                }
            )
            for key, stream in (("a", self.r), ("b", self.s))
        )
        names = ("a", "b", "begin", "end")
        columns = zip(*self.facts, strict=True) if self.facts else [()] * 4
        f = {
            name: pa.array(values, pa.int64()) for name, values in zip(names, columns, strict=True)
        }
        return r, s, pa.table(f)

    def online(self, policy: Policy, seed: int = 0) -> list[Result]:
        """What a policy gives, step by step."""
        lots = Random(seed)
        streams = [
            [
                StreamRow(ts, ts + self.life, (value,), importance, number, lots.randrange(2**32))
                for number, (ts, value, importance) in enumerate(stream)
            ]
            for stream in (self.r, self.s)
        ]
        versions = [
            Version(((r,), (s,)), begin or 0, OPEN_END if end is None else end)
            for r, s, begin, end in self.facts
        ]
        shedding = Shedding(self.memory, ("x", "y"), policy, alpha=4, beta=1)
        steps = run_shedding(streams, versions, shedding)
        return [result for step in steps for result in step.results]


def golden(data: Mapping[str, Any], memory: int | None = None) -> Star:
    """A case of the golden data; its own memory if no other is named."""
    r, s = (tuple(Arrival(*row) for row in data[name]) for name in ("R", "S"))
    facts = tuple(Fact(*row) for row in data["F"])
    return Star(r, s, facts, data["M"] if memory is None else memory, data["m"])


def random_star(seed: int, rows: int = 9, values: int = 4) -> Star:
    """Bursts and gaps, facts that come and go, facts twice, streams that end early."""
    random = Random(seed)
    instants, values = random.randint(1, 12), random.randint(1, values)

    def stream() -> tuple[Arrival, ...]:
        found = [
            Arrival(random.randrange(instants), random.randrange(values), random.randint(1, 9))
            for _ in range(random.randint(0, rows))
        ]
        return tuple(sorted(found, key=lambda arrival: arrival.ts))

    def bound() -> int | None:
        return random.choice([None, random.randrange(instants + 1)])

    facts = tuple(
        Fact(random.randrange(values), random.randrange(values), bound(), bound())
        for _ in range(random.randint(0, 2 * values))
    )
    return Star(stream(), stream(), facts, random.randint(0, 7), random.randint(1, 7))
