"""The part of a plan that Spark does itself: expressions as Spark columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.plan import Plan
from tidemill.algebra.promises import spelled_out
from tidemill.algebra.scalar import Scalar, column, conjunction
from tidemill.algebra.schema import Schema
from tidemill.algebra.types import name_of
from tidemill.fragments import Edge, LateRowsExec, Mode
from tidemill.physical.filter import FilterExec
from tidemill.physical.project import ProjectExec
from tidemill.physical.source import SourceExec
from tidemill.physical.time_window import TimeWindowExec
from tidemill.runtime.spark.durations import Duration
from tidemill.timeline import VALID_FROM

PARTITION = "partition"
"""The column that tells in which partition a row is."""


@dataclass(frozen=True)
class NativeRows:
    """What rows of a source become: which are kept, their columns, and how long they hold.

    `duration` is None if rows bring their end with them. `late` tells that rows are wanted that
    came too late, and no others.
    """

    source: SourceExec
    kept: Scalar | None
    columns: Mapping[str, Scalar]
    duration: Duration | None
    late: bool = False


def native_rows(node: Plan) -> NativeRows:
    """Fold the filters and projections above a source into expressions over its columns."""
    match node:
        case SourceExec():
            columns = {field.name: column(field.name, field.type) for field in node.schema}
            is_stream = node.scan.kind is SourceKind.STREAM
            return NativeRows(node, None, columns, Duration(1) if is_stream else None)
        case LateRowsExec():
            below = native_rows(node.child)
            own = dict(zip(node.schema.names, below.columns.values(), strict=True))
            return replace(below, columns=own, late=True)
        case TimeWindowExec():
            assert node.size is not None
            held = Duration(node.size, node.changes)
            return replace(native_rows(node.child), duration=held)
        case FilterExec():
            below = native_rows(node.child)
            more = node.predicate.substitute(below.columns)
            return replace(below, kept=conjunction(below.kept, more))
        case ProjectExec():
            below = native_rows(node.child)
            items = {name: scalar.substitute(below.columns) for name, scalar in node.items}
            return replace(below, columns=items)
    raise TypeError(type(node).__name__)


def spark_type(kind: pa.DataType) -> str:
    """The name of a type in Spark; timestamps have no zone inside the engine."""
    return name_of(kind).replace("TIMESTAMP", "TIMESTAMP_NTZ")


def to_spark(scalar: Scalar, places: Mapping[str, str]) -> str:
    """An expression as Spark SQL over the slots of its columns, in the type of the plan."""
    text = spelled_out(scalar.rename(places).node).sql(dialect="spark")
    return text if scalar.is_column else f"CAST({text} AS {spark_type(scalar.type)})"


def partition_of(edge: Edge, places: Mapping[str, str], partitions: int) -> str:
    """Which partition a row of an edge goes to, in Spark SQL; an array if it goes to all."""
    schema = edge.schema
    if edge.mode is Mode.BROADCAST:
        return f"sequence(0, {partitions - 1})"
    if edge.mode is Mode.SINGLE:
        return "0"
    if edge.mode is Mode.GIVEN:
        return f"pmod({places[edge.keys[0]]}, {partitions})"
    if edge.mode in (Mode.KEEP, Mode.NOW) and edge.made_at:
        return PARTITION
    names = edge.keys if edge.mode is Mode.HASH else schema.names
    parts = [_hashable(places[name], schema, name) for name in names] or [VALID_FROM]
    return f"pmod(hash({', '.join(parts)}), {partitions})"


def _hashable(slot: str, schema: Schema, name: str) -> str:
    """Equal values must look alike: there are two zeros, and many NaNs."""
    kind = spark_type(schema[name])
    if kind in ("FLOAT", "DOUBLE"):
        return f"CASE WHEN isnan({slot}) THEN double('NaN') ELSE {slot} + 0D END"
    # Maps have no hash in Spark; their text does.
    return f"to_json({slot})" if "MAP" in kind else slot
