"""The part of a plan that Spark does itself: expressions as Spark columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar, column, conjunction
from tidemill.algebra.schema import Schema
from tidemill.fragments import Edge, Mode
from tidemill.physical.filter import FilterExec
from tidemill.physical.project import ProjectExec
from tidemill.physical.source import SourceExec
from tidemill.physical.time_window import TimeWindowExec
from tidemill.runtime.spark.layout import PARTITION, spark_type
from tidemill.timeline import VALID_FROM


@dataclass(frozen=True)
class NativeRows:
    """What rows of a source become: which are kept, their columns, and how long they hold."""

    source: SourceExec
    kept: Scalar | None
    columns: Mapping[str, Scalar]
    duration: int


def native_rows(node: Plan) -> NativeRows:
    """Fold the filters and projections above a source into expressions over its columns."""
    match node:
        case SourceExec():
            columns = {field.name: column(field.name, field.type) for field in node.schema}
            return NativeRows(node, None, columns, 1)
        case TimeWindowExec():
            below = native_rows(node.child)
            return NativeRows(below.source, below.kept, below.columns, node.size or 1)
        case FilterExec():
            below = native_rows(node.child)
            more = node.predicate.substitute(below.columns)
            return NativeRows(
                below.source, conjunction(below.kept, more), below.columns, below.duration
            )
        case ProjectExec():
            below = native_rows(node.child)
            items = {name: scalar.substitute(below.columns) for name, scalar in node.items}
            return NativeRows(below.source, below.kept, items, below.duration)
    raise TypeError(type(node).__name__)


def to_spark(scalar: Scalar, places: Mapping[str, str]) -> str:
    """An expression as Spark SQL over the slots of its columns, in the type of the plan."""
    text = scalar.rename(places).node.sql(dialect="spark")
    return text if scalar.is_column else f"CAST({text} AS {spark_type(scalar.type)})"


def partition_of(edge: Edge, places: Mapping[str, str], schema: Schema, partitions: int) -> str:
    """Which partition a row of an edge goes to, in Spark SQL; an array if it goes to all."""
    if edge.mode is Mode.BROADCAST:
        return f"sequence(0, {partitions - 1})"
    if edge.mode is Mode.SINGLE:
        return "0"
    if edge.mode is Mode.KEEP:
        return PARTITION
    names = edge.keys if edge.mode is Mode.HASH else schema.names
    parts = [_hashable(places[name], schema, name) for name in names] or [VALID_FROM]
    return f"cast(pmod(hash({', '.join(parts)}), {partitions}) as int)"


def _hashable(slot: str, schema: Schema, name: str) -> str:
    """Equal values must look alike: there are two zeros, and many NaNs."""
    kind = spark_type(schema[name])
    if kind in ("FLOAT", "DOUBLE"):
        return f"CASE WHEN isnan({slot}) THEN double('NaN') ELSE {slot} + 0D END"
    # Maps have no hash in Spark; their text does.
    return f"to_json({slot})" if "MAP" in kind else slot
