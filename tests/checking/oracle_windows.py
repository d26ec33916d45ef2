"""The rows in a window at an instant, straight from the words of the language.

At t, a window of n instants holds the rows of t - n < time <= t. One that slides by m stands
still between m - 1, 2m - 1, …; one of n rows holds the last n that came, whole slides only.
A session has the rows that came with less than the gap between them, up to t.
With a delay, rows come so much later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from tests.random.data import TIME
from tidemill.sql import Duration, GranularityClause, RowCount, StreamWindow, Unbounded

Record = dict[str, Any]
_COLUMNS = ("k", "v", "f", "s")


def granule_of(node: exp.Expr) -> int:
    """The granule of an entry of FROM; 1 if it has none."""
    found = node.args.get("granularity")
    if not isinstance(found, GranularityClause):
        return 1
    return _number(found.args.get("size") or found.args["finest"])


def window_instants(window: StreamWindow | None, t: int) -> range | None:
    """The instants whose rows are in the window at t; None if it counts rows."""
    if window is None or window.text("kind") == "NOW":
        return range(t, t + 1)
    if window.text("kind") in ("ROWS", "SESSION"):
        return None
    slide = window.args.get("slide")
    step = _number(slide) if slide else 1
    last = max((u for u in range(t + 1) if (u + 1) % step == 0), default=-1)
    size, delay = _size(window), window.args.get("delay")
    last -= _number(delay) if delay else 0
    return range(0 if size is None else max(0, last - size + 1), max(0, last + 1))


def window_rows(rows: Sequence[Record], window: StreamWindow | None, t: int) -> list[Record]:
    """The rows of a stream that are in the window at t."""
    instants = window_instants(window, t)
    if instants is not None:
        return [row for row in rows if row[TIME] in instants]
    assert window is not None
    partitions = _partitions([row for row in rows if row[TIME] <= t], window)
    if window.text("kind") == "SESSION":
        return [
            row for each in partitions for row in _session(each, _number(window.args["size"]), t)
        ]
    return _last_rows(partitions, window)


def _partitions(rows: list[Record], window: StreamWindow) -> list[list[Record]]:
    names = [column.name for column in window.args.get("partition_by") or ()]
    partitions: dict[tuple[str, ...], list[Record]] = defaultdict(list)
    for row in sorted(rows, key=_order):
        # NaN equals itself, and 0.0 equals -0.0.
        partitions[tuple(repr(_plain(row[name])) for name in names)].append(row)
    return list(partitions.values())


def _session(rows: list[Record], gap: int, t: int) -> list[Record]:
    """The rows from the end on, as long as none is older than the one after it by the gap."""
    session: list[Record] = []
    for row in reversed(rows):
        if t - row[TIME] >= gap:
            break
        session.append(row)
        t = row[TIME]
    return session


def _last_rows(partitions: list[list[Record]], window: StreamWindow) -> list[Record]:
    slide = window.args.get("slide")
    step, size = _number(slide) if slide else 1, _size(window)
    kept = []
    for partition in partitions:
        complete = len(partition) // step * step
        kept += partition[max(complete - size, 0) if size is not None else 0 : complete]
    return kept


def _order(row: Record) -> tuple[Any, ...]:
    """Rows by their time; those of one instant by their values, NULL first and NaN last."""
    return (row[TIME], *(_rank(row[name]) for name in _COLUMNS))


def _rank(value: Any) -> tuple[Any, ...]:
    if value is None:
        return (0,)
    return (2,) if value != value else (1, value)


def _plain(value: Any) -> Any:
    return value + 0.0 if isinstance(value, float) else value


def _size(window: StreamWindow) -> int | None:
    size = window.args.get("size") or window.args["max"]
    return None if isinstance(size, Unbounded) else _number(size)


def _number(node: Duration | RowCount) -> int:
    return node.ticks if isinstance(node, Duration) else node.value
