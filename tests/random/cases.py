"""Random cases: what to run, on which data, and how to run it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Any, Final

from tests.checking.plans import Inputs, check_plan, reference_of
from tests.checking.queries import check_query, engine_with, plan_of, run_script
from tests.random.adapting import AdaptingCase, random_adjustable
from tests.random.case import Case
from tests.random.changes import with_changes
from tests.random.constructs import random_construct
from tests.random.data import EXACT_FLOATS, FLOATS, random_row, random_stream
from tests.random.graphs import GraphCase, random_graph
from tests.random.hints import hinted, tell_nonsense
from tests.random.plans import RELATION, SOURCES, PlanGenerator
from tests.random.queries import QueryGenerator
from tests.random.rankings import STRATEGIES, Ranking, random_ranking, ranking_engine
from tests.random.relations import CHANGING, TEMPORAL, RelationPlanGenerator
from tests.random.shapes import ShapeCase, random_shapes
from tests.random.splits import check_splits
from tests.random.versions import random_versions
from tidemill.algebra import Plan, render
from tidemill.catalog import Hints
from tidemill.engine import Engine
from tidemill.optimize import optimize
from tidemill.testing.reference import Functions, check_result

_FEW = (2, 9)  # rows per stream: queries multiply them
_SOON = 12  # so that many rows come when something changes


@dataclass(frozen=True)
class PlanCase(Case):
    """A plan against the reference."""

    plan: Plan

    def check(self) -> None:
        check_plan(self.plan, self.inputs)

    @property
    def text(self) -> str:
        return render(self.plan)


@dataclass(frozen=True)
class QueryCase(Case):
    """SQL against the reference and DuckDB."""

    script: str
    contract: bool = True
    by_duckdb: bool = True

    def check(self) -> None:
        most = 6 if self.by_duckdb else 0
        check_query(self.script, self.inputs, most, contract=self.contract)

    @property
    def text(self) -> str:
        return self.script


@dataclass(frozen=True)
class HintedCase(Case):
    """SQL with nonsense for hints, told to the engine and written in the query."""

    script: str
    random: Random

    def check(self) -> None:
        engine = engine_with(self.inputs)
        tell_nonsense(engine, self.inputs, self.random)
        query = run_script(self.script, engine)
        expected = reference_of(plan_of(query), self.inputs, engine.catalog.functions)
        check_result(query.collect(), expected)
        # Once more, with what the engine has learnt from the data.
        again = run_script(self.script.rsplit(";\n", 1)[-1], engine)
        check_result(again.collect(), expected)

    @property
    def text(self) -> str:
        return self.script


@dataclass(frozen=True)
class SplitCase(Case):
    """A plan on the same rows, in several orders and splits into ticks."""

    plan: Plan
    random: Random
    functions: Functions = field(default_factory=dict)
    script: str = ""

    def check(self) -> None:
        check_splits(self.plan, self.inputs, self.random, self.functions)

    @property
    def text(self) -> str:
        return f"{self.script}\n{render(self.plan)}".strip()


@dataclass(frozen=True)
class RankingCase(Case):
    """The first objects, found in all ways, and on rows that are rearranged."""

    ranking: Ranking
    random: Random

    def check(self) -> None:
        engine = ranking_engine(self.ranking, self.inputs, Engine(runtime="inprocess"))
        plan = plan_of(run_script(self.ranking.sql, engine))
        expected = reference_of(plan, self.inputs, engine.catalog.functions)
        for strategy in STRATEGIES:
            query = run_script(self.ranking.hinted(strategy), engine)
            check_result(query.collect(), expected)
        functions, strategy = engine.catalog.functions, self.random.choice(STRATEGIES)
        rewrite = partial(optimize, hints=Hints(rank=strategy), functions=functions)
        check_splits(plan, self.inputs, self.random, functions, rewrite)

    @property
    def text(self) -> str:
        return f"{self.ranking.sql}\n{self.ranking.recurs}"


def plan_case(random: Random) -> PlanCase:
    """A random plan on random rows."""
    plan = PlanGenerator(random).plan(random.choice([1, 1, 2, 2, 3]))
    return PlanCase(random_inputs(random), plan)


def query_case(random: Random) -> QueryCase:
    """A random script on random rows. A third of them check the contract of operators too."""
    script = QueryGenerator(random).script()
    inputs = random_inputs(random, latest=10, rows=_FEW, floats=EXACT_FLOATS)
    return QueryCase(inputs, script, random.random() < 0.34)


def construct_case(random: Random) -> QueryCase:
    """What other databases spell, on random rows; the reference alone says what it means."""
    script = random_construct(random)
    inputs = random_inputs(random, latest=10, rows=(4, 14))
    return QueryCase(inputs, script, random.random() < 0.34, by_duckdb=False)


def hinted_case(random: Random) -> HintedCase:
    """A random script with hints on random rows."""
    script = hinted(QueryGenerator(random).script(), random)
    inputs = random_inputs(random, latest=10, rows=_FEW, floats=EXACT_FLOATS)
    return HintedCase(inputs, script, random)


def split_case(random: Random) -> SplitCase:
    """A random plan, or the plan of a random script, on rows that will be rearranged."""
    if random.random() < 0.5:
        plan = PlanGenerator(random).plan(random.choice([1, 2, 2]))
        return SplitCase(random_inputs(random), plan, random)
    script = QueryGenerator(random).script()
    inputs = random_inputs(random, latest=10, rows=_FEW)
    engine = engine_with(inputs)
    plan = plan_of(run_script(script, engine))
    return SplitCase(inputs, plan, random, engine.catalog.functions, script)


def relation_case(random: Random) -> Case:
    """A random plan over relations of all kinds; sometimes on rows that will be rearranged."""
    plan = RelationPlanGenerator(random).plan(random.choice([1, 1, 2]))
    inputs = replace(
        random_inputs(random, latest=_SOON, rows=(4, 14)),
        temporal={TEMPORAL: random_versions(random)},
        changing={CHANGING: random_versions(random)},
        arrival=random.randrange(1000),
    )
    if random.random() < 0.8:
        return PlanCase(inputs, plan)
    return SplitCase(inputs, plan, random)


def ranking_case(random: Random) -> RankingCase:
    """A random question about objects."""
    ranking, inputs = random_ranking(random)
    return RankingCase(inputs, ranking, random)


def changes_case(random: Random) -> Case:
    """A random plan or script whose windows and granules change; its rows are rearranged."""
    if random.random() < 0.9:
        plan = with_changes(PlanGenerator(random).plan(random.choice([1, 1, 2])), random)
        return PlanCase(random_inputs(random), plan)
    case = split_case(random)
    return replace(case, plan=with_changes(case.plan, random))


def adapting_case(random: Random) -> AdaptingCase:
    """A random plan that is adapted while it runs."""
    return AdaptingCase(random_inputs(random), random_adjustable(random), random)


def random_inputs(random: Random, **options: Any) -> Inputs:
    """Random rows for all sources."""
    streams = {name: random_stream(random, **options) for name in SOURCES}
    floats = options.get("floats", FLOATS)
    rows = [random_row(random, floats) for _ in range(random.randint(0, 3))]
    return Inputs(streams, {RELATION: rows})


def graph_case(random: Random) -> GraphCase:
    """A random life of a running graph."""
    return random_graph(random, random_inputs(random, latest=12, rows=(4, 14)))


def shape_case(random: Random) -> ShapeCase:
    """A random life of a running graph with queries of few shapes."""
    return random_shapes(random, random_inputs(random, latest=12, rows=(4, 14)))


CASES: Final[Mapping[str, Callable[[Random], Case]]] = {
    "plans": plan_case,
    "queries": query_case,
    "constructs": construct_case,
    "hints": hinted_case,
    "splits": split_case,
    "relations": relation_case,
    "rankings": ranking_case,
    "graphs": graph_case,
    "shapes": shape_case,
    "changes": changes_case,
    "adapting": adapting_case,
}
"""How to make a random case of each kind."""


def check_seed(kind: str, seed: int) -> None:
    """Check the random case of a seed; a failure says what it was and how to see it again."""
    again = f"python -m tests.fuzz --kind {kind} --seed {seed} --count 1"
    try:
        case = CASES[kind](Random(seed))
    except Exception as error:
        raise AssertionError(f"{again}\nthe case itself: {error}") from error
    try:
        case.check()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise AssertionError(f"{again}\n\n{case}\n\n{reason}") from error
