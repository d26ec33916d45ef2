"""The forms in which results reach a sink: intervals, changes, or the newest snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tidemill.errors import ExecutionError
from tidemill.physical.changes import AT, CHANGE, DELETE, INSERT
from tidemill.timeline import OPEN_END, VALID_FROM, VALID_TO, TimeDomain

Shape = Callable[[DataFrame], DataFrame]

SNAPSHOT = "snapshot"
SNAPSHOT_AT = "snapshot_at"
WATERMARK = "watermark"

_ADDED = {"intervals": (), "live": (), "changes": (AT, CHANGE), SNAPSHOT: (SNAPSHOT_AT,)}
"""The forms, and the columns that they add to those of the result and its validity."""


def shape_of(form: str, domain: TimeDomain | None, columns: Iterable[str]) -> Shape:
    """How rows with these columns take a form; time becomes what the user knows it as."""
    check_form(form, columns)
    shapes = {"intervals": _intervals, "live": _intervals, "changes": _changes, SNAPSHOT: _snapshot}
    return lambda rows: shapes[form](rows, domain)


def check_form(form: str, columns: Iterable[str]) -> None:
    """Refuse what is no form, or one whose columns the result has already."""
    if form not in _ADDED:
        raise ExecutionError(f"no form `{form}`", help=f"forms: {', '.join(_ADDED)}")
    for name in _ADDED[form]:
        if name in columns:
            raise ExecutionError(
                f"the result has a column `{name}`, which the form `{form}` needs",
                help=f"give it another name: SELECT {name} AS ...",
            )


def late_shape(time: str, domain: TimeDomain | None) -> Shape:
    """How late rows look: with their time under its name, and the watermark that they missed."""
    return lambda rows: rows.select(
        *_payload(rows),
        _time(F.col(VALID_FROM), domain).alias(time),
        _time(F.col(VALID_TO), domain).alias(WATERMARK),
    )


def _intervals(rows: DataFrame, domain: TimeDomain | None) -> DataFrame:
    """An open end is NULL."""
    end = F.when(F.col(VALID_TO) != OPEN_END, F.col(VALID_TO))
    return rows.withColumns(
        {VALID_FROM: _time(F.col(VALID_FROM), domain), VALID_TO: _time(end, domain)}
    )


def _changes(rows: DataFrame, domain: TimeDomain | None) -> DataFrame:
    """A row when it comes (+) and a row when it goes (-), each with its time."""
    events = F.array(
        F.struct(F.col(VALID_FROM).alias(AT), F.lit(INSERT).alias(CHANGE)),
        F.struct(F.col(VALID_TO).alias(AT), F.lit(DELETE).alias(CHANGE)),
    )
    changes = rows.withColumn("event", F.explode(events)).where(f"event.{AT} <> {OPEN_END}")
    at = _time(F.col(f"event.{AT}"), domain)
    return changes.select(*_payload(rows), at.alias(AT), f"event.{CHANGE}")


def _snapshot(rows: DataFrame, domain: TimeDomain | None) -> DataFrame:
    """The rows with the one instant at which they hold; NULL for what holds for ever."""
    at = F.when(F.col(VALID_TO) != OPEN_END, F.col(VALID_FROM))
    return rows.select(*_payload(rows), _time(at, domain).alias(SNAPSHOT_AT))


def _payload(rows: DataFrame) -> list[Any]:
    names = [name for name in rows.columns if name not in (VALID_FROM, VALID_TO)]
    return [F.col(f"`{name.replace('`', '``')}`") for name in names]


def _time(column: Any, domain: TimeDomain | None) -> Any:
    return F.timestamp_micros(column) if domain is TimeDomain.MICROSECONDS else column
