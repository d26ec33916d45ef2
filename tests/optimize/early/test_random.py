"""Random aggregates over joins: the late plan and every early one, against the reference."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from tidemill.algebra import Plan
from tidemill.optimize.early.rewrite import AggregateJoin, early_plan
from tidemill.testing.check import Inputs, check_result, reference_of, run_plan
from tidemill.testing.check_queries import engine_with, plan_of, run_script
from tidemill.testing.random_data import random_stream

NAMES = ("alpha", "beta", "gamma")
CALLS = [
    "COUNT(*)", "COUNT({x}.v)", "SUM({x}.v)", "AVG({x}.v)", "MIN({x}.v)", "MAX({x}.s)",
    "SUM({x}.k)", "AVG({x}.k)", "MAX({x}.f)", "COUNT(DISTINCT {x}.k)", "SUM(DISTINCT {x}.k)",
    "SUM({x}.f)", "AVG({x}.f)", "STDDEV_POP({x}.k)", "SUM({x}.k + {y}.k)", "MIN({x}.f + {y}.f)",
]  # fmt: skip


def query_text(random: Random, count: int) -> str:
    """An aggregate of a join of some streams, with all kinds of calls."""
    names = NAMES[:count]

    def any_call() -> str:
        text = random.choice(CALLS)
        return text.format(x=random.choice(names), y=random.choice(names))

    windows = [f"WINDOW(RANGE {random.randint(1, 9)})", "WINDOW(ROWS 3)", "[RANGE UNBOUNDED]"]
    weights = [8, 1, 1]
    sources = ", ".join(f"{n} {random.choices(windows, weights)[0]}" for n in names)
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


def rewritten(plan: Plan, mask: tuple[bool, ...]) -> Plan:
    """The plan with the aggregate over the join rewritten, wherever it is."""
    query = AggregateJoin.of(plan)
    if query is not None:
        return early_plan(query, mask)
    return plan.with_children([rewritten(child, mask) for child in plan.children])


@pytest.mark.parametrize("seed", range(24))
def test_every_early_plan(seed: int) -> None:
    random = Random(seed)
    count = 3 if seed % 3 == 0 else 2
    text = query_text(random, count)
    inputs = Inputs({name: random_stream(random, latest=12, rows=(2, 9)) for name in NAMES})
    engine = engine_with(inputs)
    plan = plan_of(run_script(text, engine))
    expected = reference_of(plan, inputs)
    for mask in product([False, True], repeat=count):
        changed = rewritten(plan, mask)
        assert (changed is plan) is not any(mask), f"{text}: nothing to rewrite"
        assert changed.schema == plan.schema
        check_result(run_plan(changed, inputs), expected)
        # The definition of weighed aggregates says the same.
        assert reference_of(changed, inputs) == expected, f"{text}\n{changed}"
