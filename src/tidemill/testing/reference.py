"""What a query means on given rows, and whether its answer is just that."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tidemill.algebra import Granularity, Plan, Scan, SessionWindow, TimeWindow
from tidemill.algebra.adjusting import sizes
from tidemill.engine import Query
from tidemill.expressions import UserFunction
from tidemill.reference import LogicalStream, SourceData, evaluate
from tidemill.testing.snapshots import Elements, assert_snapshots_equal, elements, endpoints
from tidemill.timeline import OPEN_END

Functions = Mapping[str, UserFunction]
NO_FUNCTIONS: Functions = MappingProxyType({})


def check_query(
    query: Query, sources: Mapping[str, SourceData], functions: Functions = NO_FUNCTIONS
) -> None:
    """Fail unless a query answers, at every instant, what it means on the rows of its sources.

    A stream has pairs (row, instant), a relation that changes (row, start, end), a constant one
    rows. Late rows must be left out. Instants are computed one by one: use small integers.

    >>> from tidemill import Engine
    >>> rows = [{"price": 30, "at": 1}, {"price": 10, "at": 4}]
    >>> engine = Engine(runtime="inprocess")
    >>> engine.stream("bid", rows, time="at")
    >>> query = engine.sql("SELECT MAX(price) AS highest FROM bid WINDOW(RANGE 5)")
    >>> check_query(query, {"bid": [(row, row["at"]) for row in rows]})
    """
    check_result(query.collect(), reference(query.planned.plan, sources, functions))


def reference(
    plan: Plan, sources: Mapping[str, SourceData], functions: Functions = NO_FUNCTIONS
) -> LogicalStream:
    """The snapshots of a plan at every instant up to one after which nothing changes any more."""
    scanned = {node.source for node in plan.walk() if isinstance(node, Scan)}
    data = {name: rows for name, rows in sources.items() if name in scanned}
    return evaluate(plan, data, _latest(sources) + reach(plan) + 2, functions)


def _latest(sources: Mapping[str, SourceData]) -> int:
    """The time of the newest row, or of the latest change."""
    entries = (entry for rows in sources.values() for entry in rows if isinstance(entry, tuple))
    times = (at for _, *times in entries for at in times if at is not None and at < OPEN_END)
    return max(times, default=0)


def reach(plan: Plan) -> int:
    """How long after the last row of all sources something may still change.

    >>> from tidemill.algebra import Schema
    >>> bid = Scan("bid", "bid", Schema.of())
    >>> reach(Granularity(TimeWindow(bid, 10, 2), 5))
    17
    """
    return plan.fold(lambda node, below: max(below, default=0) + _own_reach(node))


def _own_reach(plan: Plan) -> int:
    match plan:
        case TimeWindow():
            longest = max(size or 0 for size in sizes(plan.size, plan.changes))
            return longest + plan.slide + plan.delay
        case SessionWindow():
            return plan.gap
        case Granularity():
            return max(size or 0 for size in sizes(plan.granule, plan.changes))
        case _:
            return 0


def check_result(result: Elements, expected: LogicalStream) -> None:
    """Compare at every instant: with that, at every endpoint and one chronon on both sides."""
    found = elements(result)
    around = endpoints((start, end) for _, start, end in found)
    late = [t for t in around if t > expected.horizon]
    assert not late, f"the result changes near {late}, when all should be over"
    assert all(start < end <= OPEN_END for _, start, end in found), "an interval is empty"
    assert_snapshots_equal(found, expected, range(expected.horizon + 1))
