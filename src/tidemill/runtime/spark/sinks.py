"""Where results go, and in which form.

A sink takes the result rows of a tick and the number of the tick. A tick may be done again after
a failure, with the same number and the same rows: files are then written over, so that nothing is
lost and nothing doubled. Other writers get the rows at least once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tidemill.analyze import SourceInfo
from tidemill.errors import ExecutionError
from tidemill.runtime.interface import LateCallback, SinkRequest
from tidemill.runtime.spark.session import from_here
from tidemill.timeline import OPEN_END, VALID_FROM, VALID_TO, TimeDomain

Sink = Callable[[DataFrame, int], None]

FILES = {"parquet", "json", "csv", "orc", "text"}
FORMS = ("intervals", "changes")


def make_sink(request: SinkRequest, domain: TimeDomain | None) -> Sink:
    """The sink that a user asked for: a format of Spark, `console`, or a function."""
    shape = _shape(request.form, domain)
    target, options = request.target, request.options
    if callable(target):
        return lambda rows, tick: target(shape(rows).toArrow(), tick)
    if target == "console":
        return lambda rows, tick: _show(shape(rows), tick)
    if target in FILES:
        return _files(target, shape, options)
    return lambda rows, tick: _append(target, shape(rows), options)


def make_late_sink(target: str | LateCallback, source: SourceInfo) -> Sink:
    """Where late rows of a source go: files of their own below a folder, or a function."""
    time = source.time_column or "arrived_at"

    def shape(rows: DataFrame) -> DataFrame:
        plain = [F.col(f"`{n}`") for n in rows.columns if n not in (VALID_FROM, VALID_TO)]
        return rows.select(
            *plain,
            _time(F.col(VALID_FROM), source.domain).alias(time),
            _time(F.col(VALID_TO), source.domain).alias("watermark"),
        )

    if callable(target):
        return lambda rows, tick: target(source.name, shape(rows).toArrow(), tick)
    return _files("parquet", shape, {"path": f"{target}/{source.name}"})


def _files(
    format: str, shape: Callable[[DataFrame], DataFrame], options: Mapping[str, Any]
) -> Sink:
    rest = {name: value for name, value in options.items() if name != "path"}
    if "path" not in options:
        help = f"say where: sink='{format}', path='folder'"
        raise ExecutionError(f"the sink {format} needs a path", help=help)
    path = from_here(str(options["path"]))

    def write(rows: DataFrame, tick: int) -> None:
        folder = f"{path}/tick={tick:08d}"
        shape(rows).write.format(format).options(**rest).mode("overwrite").save(folder)

    return write


def _append(format: str, rows: DataFrame, options: Mapping[str, Any]) -> None:
    rows.write.format(format).options(**options).mode("append").save()


def _show(rows: DataFrame, tick: int) -> None:
    table = rows.toArrow()
    if table.num_rows:
        print(f"tick {tick}")
        for row in table.to_pylist():
            print("  " + ", ".join(f"{name}={value}" for name, value in row.items()))


def _shape(form: str, domain: TimeDomain | None) -> Callable[[DataFrame], DataFrame]:
    if form == "intervals":
        return lambda rows: _intervals(rows, domain)
    if form == "changes":
        return lambda rows: _changes(rows, domain)
    raise ExecutionError(f"no form `{form}`", help=f"forms: {', '.join(FORMS)}")


def _intervals(rows: DataFrame, domain: TimeDomain | None) -> DataFrame:
    """Time as the user knows it; an open end is NULL."""
    end = F.when(F.col(VALID_TO) != OPEN_END, F.col(VALID_TO))
    return rows.withColumns(
        {VALID_FROM: _time(F.col(VALID_FROM), domain), VALID_TO: _time(end, domain)}
    )


def _changes(rows: DataFrame, domain: TimeDomain | None) -> DataFrame:
    """A row when it comes (+) and a row when it goes (-), each with its time."""
    events = F.array(
        F.struct(F.col(VALID_FROM).alias("changed_at"), F.lit("+").alias("change")),
        F.struct(F.col(VALID_TO).alias("changed_at"), F.lit("-").alias("change")),
    )
    kept = [name for name in rows.columns if name not in (VALID_FROM, VALID_TO)]
    changes = rows.withColumn("event", F.explode(events)).where(f"event.changed_at <> {OPEN_END}")
    at = _time(F.col("event.changed_at"), domain)
    return changes.select(*(F.col(f"`{n}`") for n in kept), at.alias("changed_at"), "event.change")


def _time(column: Any, domain: TimeDomain | None) -> Any:
    if domain is not TimeDomain.MICROSECONDS:
        return column
    return F.timestamp_micros(column)
