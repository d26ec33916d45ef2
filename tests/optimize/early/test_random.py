"""Random aggregates over joins: the late plan and every early one, against the reference."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from random import Random

import pytest

from tests.checking.plans import Inputs, reference_of, run_plan
from tests.checking.queries import engine_with, plan_of, run_script
from tests.random.data import random_row, random_stream
from tests.random.plans import RELATION
from tidemill.algebra import Aggregate, Plan
from tidemill.algebra.relations import relation_scan
from tidemill.optimize.early.query import AggregateJoin
from tidemill.optimize.early.rewrite import early_plan
from tidemill.testing.reference import check_result
from tidemill.testing.snapshots import elements
from tidemill.timeline import BEGIN, OPEN_END

NAMES = ("alpha", "beta", "gamma")
CALLS = [
    "COUNT(*)", "COUNT({x}.v)", "SUM({x}.v)", "AVG({x}.v)", "MIN({x}.v)", "MAX({x}.s)",
    "SUM({x}.k)", "AVG({x}.k)", "MAX({x}.f)", "COUNT(DISTINCT {x}.k)", "SUM(DISTINCT {x}.k)",
    "SUM({x}.f)", "AVG({x}.f)", "STDDEV_POP({x}.k)", "SUM({x}.k + {y}.k)", "MIN({x}.f + {y}.f)",
    "SUM({x}.f * 0.5D)", "AVG(-{x}.f)", "COUNT({x}.f + {x}.f)", "SUM(COALESCE({x}.f, 0.5D))",
]  # fmt: skip


def query_text(random: Random, names: Sequence[str]) -> str:
    """An aggregate of a join of some streams or relations, with all kinds of calls."""

    def any_call() -> str:
        text = random.choice(CALLS)
        return text.format(x=random.choice(names), y=random.choice(names))

    windows = [f"WINDOW(RANGE {random.randint(1, 9)})", "WINDOW(ROWS 3)", "[RANGE UNBOUNDED]"]
    weights = [8, 1, 1]
    sources = ", ".join(
        n if n == RELATION else f"{n} {random.choices(windows, weights)[0]}" for n in names
    )
    conditions = [f"{names[0]}.k = {name}.k" for name in names[1:]]
    if random.random() < 0.3:
        conditions.append(f"{names[0]}.v < {names[-1]}.v")
    if random.random() < 0.3:
        conditions.append(f"{names[-1]}.f > 0")
    keys = random.sample([f"{name}.{column}" for name in names for column in "ksf"], 2)
    keys = keys[: random.choice([0, 1, 1, 2])]
    calls = [f"{any_call()} AS c{n}" for n in range(random.randint(1, 4))]
    groups = [f"{key} AS g{n}" for n, key in enumerate(keys)]
    by = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join(groups + calls)} FROM {sources} WHERE {' AND '.join(conditions)}{by}"


OUTER = ("LEFT", "LEFT", "RIGHT", "FULL")


def outer_text(random: Random) -> str:
    """An aggregate of an outer join of two streams, or of one with an inner join."""
    several = random.random() < 0.3
    left = "alpha WINDOW(RANGE 4)"
    if several:
        left += " JOIN gamma WINDOW(RANGE 6) ON alpha.k = gamma.k"
    condition = random.choice(["alpha.k = beta.k", "alpha.k = beta.k AND alpha.v <= beta.v"])
    names = [*NAMES] if several else [*NAMES[:2]]
    keys = random.sample([f"{name}.{column}" for name in names for column in "ks"], 2)
    keys = keys[: random.choice([0, 1, 1, 2])]
    calls = [
        f"{random.choice(CALLS).format(x=random.choice(names), y=random.choice(names))} AS c{n}"
        for n in range(random.randint(1, 4))
    ]
    where = random.choice(["", "", " WHERE alpha.v > 0", " WHERE beta.f IS NULL OR beta.f < 2"])
    by = f" GROUP BY {', '.join(keys)}" if keys else ""
    return (
        f"SELECT {', '.join([*(f'{key} AS g{n}' for n, key in enumerate(keys)), *calls])} FROM"
        f" {left} {random.choice(OUTER)} JOIN beta WINDOW(RANGE 5) ON {condition}{where}{by}"
    )


def rewritten(plan: Plan, mask: tuple[bool, ...]) -> Plan:
    """The plan with the aggregate over the join rewritten, wherever it is."""
    query = AggregateJoin.of(plan)
    if query is not None:
        return early_plan(query, mask)
    return plan.with_children([rewritten(child, mask) for child in plan.children])


@pytest.mark.parametrize("seed", range(24))
def test_every_early_plan(seed: int) -> None:
    random = Random(seed)
    names = NAMES if seed % 3 == 0 else NAMES[:2]
    inputs = Inputs({name: random_stream(random, latest=12, rows=(2, 9)) for name in NAMES})
    check_early_plans(query_text(random, names), inputs, len(names))


@pytest.mark.parametrize("seed", range(12))
def test_every_early_plan_of_an_outer_join(seed: int) -> None:
    random = Random(seed)
    inputs = Inputs({name: random_stream(random, latest=12, rows=(2, 9)) for name in NAMES})
    text = outer_text(random)
    check_early_plans(text, inputs, 3 if "gamma" in text else 2)


@pytest.mark.parametrize("seed", range(6))
def test_a_relation_is_a_window_that_never_changes(seed: int) -> None:
    random = Random(seed)
    streams = {name: random_stream(random, latest=12, rows=(2, 9)) for name in NAMES}
    inputs = Inputs(streams, {RELATION: [random_row(random) for _ in range(6)]})
    names = (RELATION, "alpha") if seed % 2 else ("alpha", RELATION)
    plans = check_early_plans(query_text(random, names), inputs, 2)
    (fixed,) = (node for node in plans[-1].walk() if is_early_aggregate_of_relation(node))
    validities = {(start, end) for _, start, end in elements(run_plan(fixed, inputs))}
    assert validities <= {(BEGIN, OPEN_END)}


def is_early_aggregate_of_relation(node: Plan) -> bool:
    return isinstance(node, Aggregate) and relation_scan(node.child) is not None


def check_early_plans(text: str, inputs: Inputs, count: int) -> list[Plan]:
    """All plans of a query give what the late one means."""
    plan = plan_of(run_script(text, engine_with(inputs)))
    expected = reference_of(plan, inputs)
    plans = [rewritten(plan, mask) for mask in product([False, True], repeat=count)]
    for changed in plans:
        assert (changed is plan) is (changed is plans[0]), f"{text}: nothing to rewrite"
        assert changed.schema == plan.schema
        check_result(run_plan(changed, inputs), expected)
        # The definition of weighed aggregates says the same.
        assert reference_of(changed, inputs) == expected, f"{text}\n{changed}"
    return plans
