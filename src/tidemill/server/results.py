"""The results of queries: what holds now, in a range of time, and what has changed."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa

from tidemill.engine.running import StartedQuery
from tidemill.physical.changes import AT, CHANGE, to_changes
from tidemill.server.show.tables import Answer
from tidemill.server.wire import instants
from tidemill.timeline import OPEN_END, VALID_FROM, VALID_TO


def snapshot(run: StartedQuery, at: int | None, limit: int) -> Answer:
    """The rows that hold at an instant, or at the newest one."""
    rows = _kept(run)
    newest = max(rows[VALID_FROM].to_list(), default=0)
    instant = newest if at is None else at
    held = rows.filter((pl.col(VALID_FROM) <= instant) & (pl.col(VALID_TO) > instant))
    return _answer(run, held, limit, {"at": instant})


def results(run: StartedQuery, start: int, end: int, limit: int) -> Answer:
    """The rows that hold at some time in [start, end)."""
    rows = _kept(run)
    return _answer(run, rows.filter((pl.col(VALID_FROM) < end) & (pl.col(VALID_TO) > start)), limit)


def changes(run: StartedQuery, since: int, limit: int) -> Answer:
    """Rows that came (+) and went (-) since a cursor."""
    log = to_changes(_kept(run)[since : since + limit])
    more: dict[str, Any] = {
        "at": log[AT].to_list(),
        "change": log[CHANGE].to_list(),
        "cursor": min(since + limit, _kept(run).height),
        "missed": False,
    }
    table = log.drop(AT, CHANGE).to_arrow()
    return Answer(table, run.definition.schema, run.definition.planned.domain, more=more)


def _kept(run: StartedQuery) -> pl.DataFrame:
    table = run.results()
    if VALID_FROM not in table.column_names:
        empty = pa.array([], pa.int64())
        table = table.append_column(VALID_FROM, empty).append_column(VALID_TO, empty)
    for name in (VALID_FROM, VALID_TO):
        times = [OPEN_END if t is None else t for t in instants(table.column(name))]
        position = table.column_names.index(name)
        table = table.set_column(position, name, pa.array(times, pa.int64()))
    found = pl.from_arrow(table)
    assert isinstance(found, pl.DataFrame)
    return found


def _answer(
    run: StartedQuery, rows: pl.DataFrame, limit: int, more: dict[str, Any] | None = None
) -> Answer:
    definition = run.definition
    open_end = pl.when(pl.col(VALID_TO) == OPEN_END).then(None).otherwise(pl.col(VALID_TO))
    table = rows.head(limit).with_columns(open_end.alias(VALID_TO)).to_arrow()
    return Answer(
        table, definition.schema, definition.planned.domain, rows.height > limit, None, more
    )


def news(run: StartedQuery, cursor: int | None) -> dict[str, Any]:
    """Rows that came since a cursor; without one, all that are kept."""
    rows = _kept(run)
    answer = _answer(run, rows[cursor or 0 :], 10_000, {"cursor": rows.height})
    return {"reset": cursor is None, **answer.fields()}
