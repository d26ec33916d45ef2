"""How Tidemill's speed changes with windows, events, partitions, and executors of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchmarks.auction.data import Data
from benchmarks.auction.goals import AT_MOST, GROWTH, Figure, ratio
from benchmarks.auction.measure import Outcome
from benchmarks.auction.run import Plan
from benchmarks.auction.runner import Case, Runner
from benchmarks.auction.systems import TIDEMILL
from tidemill.nexmark.generate import Size

BASE = "base"
CASES = (
    Case(BASE),
    Case("window × 10", window=10),
    Case("window × 100", window=100),
    Case("events × 10", events=10),
    # Ten times as many rows in windows that are ten times as long.
    Case("both × 10", window=10, events=10),
    Case("1 partition", partitions=1),
    # Two executors of one core and 2 GiB each, in processes of their own.
    Case("two executors", master="local-cluster[2,1,2048]"),
)


def measure_growth(plan: Plan, runner: Runner) -> Iterator[Outcome]:
    """Every query as usual, and in every case that differs from it in one thing."""
    runner.prepare(plan.little, *dict.fromkeys(_data(plan, case) for case in CASES))
    for query in plan.queries:
        for case in CASES:
            (form,) = TIDEMILL.forms(query.name)
            yield runner.measure(TIDEMILL, form, query, _data(plan, case), plan.little, case)


def figures(outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    """The speed of every case, and what that is of the usual one."""
    base = {o.query: o for o in outcomes if o.case == BASE}
    for outcome in outcomes:
        bound = AT_MOST if outcome.gave_up else ""
        speed = outcome.events_per_second or 0.0
        yield Figure(outcome.query, f"speed, {outcome.case}", "events/s", speed, bound=bound)
        times = ratio(outcome, base[outcome.query])
        if outcome.case != BASE and times is not None:
            value, goal = times[0], GROWTH.get(outcome.case)
            name = f"of base, {outcome.case}"
            yield Figure(outcome.query, name, "×", value, goal, bound=times[1])


def _data(plan: Plan, case: Case) -> Data:
    """With more events there are more ticks, of the same size."""
    base = plan.data
    more = Size(base.size.bids * case.events)
    return replace(base, size=more, files=base.files * case.events)
