"""The results of queries: what holds now, in a range of time, and what has changed."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from tidemill.engine.kept import KeptResults
from tidemill.physical.mechanisms.changes import AT, CHANGE
from tidemill.server.problems import Conflict
from tidemill.show.tables import Answer
from tidemill.timeline import OPEN_END
from tidemill.wire.values import SAFE, instants

LAST = SAFE - 1
"""A cursor after everything, which JavaScript does not round."""

MOST_NEWS = 2000
"""Rows of a message over a socket; a client further behind begins anew with the newest ones."""


def snapshot(kept: KeptResults, at: int | None, limit: int) -> Answer:
    """The rows that hold at an instant, or at the newest one, in order."""
    instant = kept.newest if at is None else at
    return _answer(kept, kept.holding(instant), limit, at=instant)


def results(kept: KeptResults, start: int, end: int, limit: int) -> Answer:
    """The rows that hold at some time in [start, end)."""
    return _answer(kept, kept.between(start, end), limit)


def changes(kept: KeptResults, since: int, limit: int) -> Answer:
    """Rows that came (+) and went (-) from the instant of a cursor on; the next cursor."""
    for name in (AT, CHANGE):
        if name in kept.schema:
            help = "read its results instead, or give the column another name"
            raise Conflict(f"the result has a column `{name}`, which the log needs", help=help)
    log = kept.changes(since)
    log, cursor = _cut(log, limit, kept.complete_until)
    return Answer(
        log.select([*kept.schema.names]),
        kept.schema,
        kept.domain,
        cursor < kept.complete_until,
        complete_until(kept),
        {
            "at": instants(log.column(AT)),
            "change": log.column(CHANGE).to_pylist(),
            "cursor": min(cursor, LAST),
            "missed": since < kept.kept_from,
        },
    )


def _cut(log: pa.Table, limit: int, end: int) -> tuple[pa.Table, int]:
    """Whole instants, as many as fit, but at least one; and the first instant that is left."""
    if log.num_rows <= limit:
        return log, end
    times = instants(log.column(AT))
    first = times[limit]
    if first == times[0]:
        first = next((t for t in times if t != times[0]), None)
    if first is None:
        return log, end
    return log.slice(0, times.index(first)), first


def news(kept: KeptResults, cursor: int | None) -> dict[str, Any]:
    """Rows that hold after the instant that a client knows all of; the newest ones, if it knows
    none, or is far behind.

    A row that the client knows, and that goes on, comes again with its `valid_from`.
    """
    behind = cursor is None or cursor > kept.complete_until or cursor < kept.kept_from
    known = 0 if cursor is None or behind else cursor
    rows = kept.between(max(known - 1, 0), OPEN_END)
    reset = behind or rows.num_rows > MOST_NEWS
    newest = rows.slice(max(0, rows.num_rows - MOST_NEWS))
    answer = _answer(kept, newest, MOST_NEWS)
    more = {"reset": reset, "cursor": min(kept.complete_until, LAST)}
    return answer.fields() | {"truncated": newest.num_rows < rows.num_rows} | more


def complete_until(kept: KeptResults) -> int | None:
    """Up to which instant the answer is known; None is for ever."""
    return None if kept.complete_until == OPEN_END else kept.complete_until


def _answer(kept: KeptResults, rows: pa.Table, limit: int, **more: Any) -> Answer:
    return Answer(
        rows.slice(0, limit),
        kept.schema,
        kept.domain,
        rows.num_rows > limit,
        complete_until(kept),
        more,
    )
