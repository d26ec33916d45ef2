"""Windows, and the granularity of time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from tidemill.algebra import CountWindow, Granularity, SessionWindow, TimeWindow
from tidemill.algebra.adjusting import size_at
from tidemill.reference.order import sorted_copies
from tidemill.reference.run import ReferenceRun
from tidemill.reference.stream import LogicalStream, Row, Snapshot, total


def time_window(plan: TimeWindow, run: ReferenceRun, child: LogicalStream) -> LogicalStream:
    """At t, the copies of the instants t' with d <= moved < d + size, where d is t' + delay.

    `moved` is as of t, the size as of t'.
    """

    def holds(instant: int, moved: int) -> bool:
        size = size_at(plan.size, plan.changes, instant)
        delayed = instant + plan.delay
        return delayed <= moved and (size is None or moved < delayed + size)

    def content(t: int) -> Snapshot:
        moved = last_move(t, plan.slide)
        return total(rows for instant, rows in child.items() if holds(instant, moved))

    return LogicalStream.build(run.horizon, content)


def last_move(t: int, slide: int) -> int:
    """The last of slide - 1, 2 * slide - 1, … that is not after t; -1 before the first.

    >>> [last_move(t, 3) for t in range(7)]
    [-1, -1, 2, 2, 2, 5, 5]
    """
    return (t + 1) // slide * slide - 1


def count_window(plan: CountWindow, run: ReferenceRun, child: LogicalStream) -> LogicalStream:
    """At t, of every partition, the rows behind which not as many came as their size allows.

    Only rows up to the last complete slide have come.
    """
    keys = [plan.schema.names.index(name) for name in plan.partition_by]
    arrived: dict[Row, list[tuple[Row, int]]] = defaultdict(list)

    def content(t: int) -> Snapshot:
        for row in sorted_copies(child.at(t)):
            arrived[tuple(row[key] for key in keys)].append((row, t))
        return total(Counter(_last_rows(plan, rows)) for rows in arrived.values())

    # The instants are visited in order, each once, so `arrived` holds what came up to t.
    return LogicalStream.build(run.horizon, content)


def _last_rows(plan: CountWindow, arrived: list[tuple[Row, int]]) -> Iterator[Row]:
    complete = len(arrived) // plan.slide * plan.slide
    for number, (row, time) in enumerate(arrived[:complete]):
        size = size_at(plan.rows, plan.changes, time)
        if size is None or complete - number <= size:
            yield row


def session_window(plan: SessionWindow, run: ReferenceRun, child: LogicalStream) -> LogicalStream:
    """At t, of every partition, the rows that came since the last time none came for the gap."""
    keys = [plan.schema.names.index(name) for name in plan.partition_by]
    sessions: dict[Row, list[Row]] = defaultdict(list)
    last: dict[Row, int] = {}

    def content(t: int) -> Snapshot:
        for key in [key for key, time in last.items() if time + plan.gap <= t]:
            del last[key], sessions[key]
        for row in child.at(t).elements():
            key = tuple(row[key] for key in keys)
            sessions[key].append(row)
            last[key] = t
        return total(Counter(rows) for rows in sessions.values())

    # The instants are visited in order, each once, so that sessions are those of t.
    return LogicalStream.build(run.horizon, content)


def granularity(plan: Granularity, run: ReferenceRun, child: LogicalStream) -> LogicalStream:
    """At t, the snapshot of the last multiple of the granule.

    The logical definition has nothing between multiples. Intervals cannot say that without being
    cut into chronons, so results stay valid up to the next multiple; at multiples both agree.
    """

    def rounded(t: int) -> Snapshot:
        if run.logical_granularity and t % plan.granule:
            return Counter()
        return child.at(t // plan.granule * plan.granule)

    return LogicalStream.build(run.horizon, rounded)
