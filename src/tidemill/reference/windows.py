"""Windows, and the granularity of time."""

from __future__ import annotations

from collections import Counter, defaultdict

from tidemill.algebra import CountWindow, Granularity, TimeWindow
from tidemill.reference.order import sorted_copies
from tidemill.reference.run import Run
from tidemill.reference.stream import LogicalStream, Row, Snapshot, total


def time_window(plan: TimeWindow, run: Run, child: LogicalStream) -> LogicalStream:
    """At t, the copies of the instants t' with moved - size < t' <= moved, moved as of t."""

    def content(t: int) -> Snapshot:
        moved = last_move(t, plan.slide)
        before = -1 if plan.size is None else moved - plan.size
        return total(rows for instant, rows in child.items() if before < instant <= moved)

    return LogicalStream.build(run.horizon, content)


def last_move(t: int, slide: int) -> int:
    """The last of slide - 1, 2 * slide - 1, … that is not after t; -1 before the first.

    >>> [last_move(t, 3) for t in range(7)]
    [-1, -1, 2, 2, 2, 5, 5]
    """
    return (t + 1) // slide * slide - 1


def count_window(plan: CountWindow, run: Run, child: LogicalStream) -> LogicalStream:
    """At t, the last rows of every partition, up to its last complete slide."""
    keys = [plan.schema.names.index(name) for name in plan.partition_by]
    arrived: dict[Row, list[Row]] = defaultdict(list)

    def content(t: int) -> Snapshot:
        for row in sorted_copies(child.at(t)):
            arrived[tuple(row[key] for key in keys)].append(row)
        return total(Counter(_last_rows(plan, copies)) for copies in arrived.values())

    # The instants are visited in order, each once, so `arrived` holds what came up to t.
    return LogicalStream.build(run.horizon, content)


def _last_rows(plan: CountWindow, copies: list[Row]) -> list[Row]:
    complete = len(copies) // plan.slide * plan.slide
    first = 0 if plan.rows is None else max(complete - plan.rows, 0)
    return copies[first:complete]


def granularity(plan: Granularity, run: Run, child: LogicalStream) -> LogicalStream:
    """At t, the snapshot of the last multiple of the granule.

    The logical definition has nothing between multiples. Intervals cannot say that without being
    cut into chronons, so results stay valid up to the next multiple; at multiples both agree.
    """

    def rounded(t: int) -> Snapshot:
        if run.logical_granularity and t % plan.granule:
            return Counter()
        return child.at(t // plan.granule * plan.granule)

    return LogicalStream.build(run.horizon, rounded)
