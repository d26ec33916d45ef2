"""The best join of DataFrames of Spark: a task for every part of the relation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import DoubleType, StructField, StructType

from experiments.offline.result import join_tables
from experiments.offline.split import COMPONENT, Cut, cut
from experiments.offline.terms import Terms
from tidemill.algebra.tables import to_tables
from tidemill.engine.tables import is_spark_frame, spark_frame_schema

PART = "#part"


def join_frames(r: DataFrame, s: DataFrame, f: Any, terms: Terms, count: int) -> DataFrame:
    """The results of all parts; tasks know their part of the relation, and get rows of streams."""
    on_spark = is_spark_frame(f)
    (relation,) = to_tables("f", f.toArrow() if on_spark else f)
    _check(r, s, relation, terms)
    whole = cut(relation, terms)
    left, right = (_with_keys(frame, whole, side) for side, frame in enumerate((r, s)))
    # With one part there is nothing to balance.
    loads = _loads(left, right, whole.count) if count > 1 else np.ones(whole.count)
    places, parts = whole.parts(loads, count)
    shape = _shape(r, s, f.schema if on_spark else from_arrow_schema(relation.schema), terms)
    arrow = to_arrow_schema(shape, timezone="UTC")

    def join(key: tuple[pa.Scalar, ...], one: pa.Table, other: pa.Table) -> pa.Table:
        tables = (to_tables("", each.drop_columns(PART))[0] for each in (one, other))
        return parts[key[0].as_py()].join(*tables).outputs.cast(arrow)

    first, second = (_placed(frame, places).groupBy(PART) for frame in (left, right))
    return first.cogroup(second).applyInArrow(join, shape)


def _check(r: DataFrame, s: DataFrame, relation: pa.Table, terms: Terms) -> None:
    """What is wrong with columns is said at once, not by a task."""
    left, right = (
        spark_frame_schema(name, frame).to_arrow().empty_table()
        for name, frame in (("r", r), ("s", s))
    )
    join_tables(left, right, relation, terms)


def _with_keys(frame: DataFrame, whole: Cut, side: int) -> DataFrame:
    """Rows that find something in the relation, with their components."""
    keys = frame.sparkSession.createDataFrame(whole.keys(side))
    return frame.join(F.broadcast(keys), on=list(whole.terms.keys[side])).select(
        *frame.columns, COMPONENT
    )


def _loads(r: DataFrame, s: DataFrame, components: int) -> np.ndarray:
    """Rows of both streams in each component."""
    both = r.select(COMPONENT).unionAll(s.select(COMPONENT))
    counts = both.groupBy(COMPONENT).count().toArrow()
    found = np.zeros(components, dtype=np.int64)
    found[counts.column(0).to_numpy()] = counts.column(1).to_numpy()
    return found


def _placed(frame: DataFrame, places: np.ndarray) -> DataFrame:
    """Rows with the number of their part instead of that of their component."""
    found = F.lit(places.tolist() or [0])[F.col(COMPONENT)]
    return frame.withColumn(PART, found).drop(COMPONENT)


def _shape(r: DataFrame, s: DataFrame, f: StructType, terms: Terms) -> StructType:
    """The columns of the result, as in tables."""
    time = StructField("time", r.schema[terms.time[0]].dataType)
    fields = [time, StructField("importance", DoubleType())]
    for name, schema in (("r", r.schema), ("s", s.schema), ("f", f)):
        fields += [StructField(f"{name}_{each.name}", each.dataType) for each in schema]
    return StructType(fields)
