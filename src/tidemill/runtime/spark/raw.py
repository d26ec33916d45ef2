"""Rows of streams as they come, and what they become on the edges that start at the sources.

Where queries come and go, the streaming query reads all columns of its streams. What the queries
of the moment want of them is worked out in the tick: so nothing has to be started anew for them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame

from tidemill.fragments import Edge
from tidemill.runtime.spark.inputs import HEARTBEAT, SOURCE, SourceRows, case_of, choice
from tidemill.runtime.spark.layout import TAG, Layout
from tidemill.runtime.spark.native import native_rows, spark_type
from tidemill.timeline import VALID_FROM, VALID_TO

_PASS = "pass"


class RawRows:
    """The rows of all streams in common columns: slots of their types, as many as any needs."""

    def __init__(self, sources: Sequence[SourceRows]) -> None:
        self.sources = sources
        needed: Counter[pa.DataType] = Counter()
        for source in sources:
            needed |= Counter(source.schema.types)
        types = sorted(needed.elements(), key=str)
        self._layout = Layout(tuple((f"r{n}", kind) for n, kind in enumerate(types)))

    def packed(self, source: SourceRows, rows: DataFrame) -> DataFrame:
        """Rows of one source (their time, and `source.columns`) in the common columns."""
        places = self._layout.places(source.schema)
        values = {places[name]: column for name, column in source.columns.items()}
        return self._columns(rows, str(source.number), "0", values)

    def heartbeats(self, beats: DataFrame) -> DataFrame:
        """What is known about the time of sources (their number, and an instant) as rows."""
        return self._columns(beats, SOURCE, str(HEARTBEAT), {})

    def _columns(self, rows: DataFrame, source: str, tag: str, values: dict[str, str]) -> DataFrame:
        slots = (
            f"CAST({values.get(name, 'NULL')} AS {kind}) AS {name}"
            for name, kind in self._layout.spark_slots
        )
        fixed = (f"INT({source}) AS {SOURCE}", f"INT({tag}) AS {TAG}", VALID_FROM)
        return rows.selectExpr(*fixed, *slots)

    def of_edges(self, rows: DataFrame, edges: Sequence[Edge], layout: Layout) -> DataFrame:
        """Rows of the streams as rows of edges; a row that several edges want is copied."""
        if not edges:
            return self._nothing(rows, layout)
        wanted = [edge for source in self.sources for edge in _reading(source, edges)]
        numbers = {edge.tag: number for number, edge in enumerate(wanted)}
        passes = ", ".join(
            _array([numbers[edge.tag] for edge in _reading(source, edges)])
            for source in self.sources
        )
        cases = [case_of(edge, self._slots(edge), layout) for edge in wanted]
        # Heartbeats bear the number of a source too, but are no rows.
        spread = rows.where(f"{TAG} <> {HEARTBEAT}").selectExpr(
            "*", f"explode(element_at(array({passes}), {SOURCE} + 1)) AS {_PASS}"
        )
        kept = spread.where(choice([case.kept for case in cases], _PASS))
        slots = [
            f"CAST({choice([c.slots.get(name, 'NULL') for c in cases], _PASS)} AS {kind}) AS {name}"
            for name, kind in layout.spark_slots
        ]
        tag = choice([str(case.edge.tag) for case in cases], _PASS)
        return kept.selectExpr(
            *([f"INT({tag}) AS {TAG}"] if layout.tagged else []),
            VALID_FROM,
            *([f"CAST(NULL AS BIGINT) AS {VALID_TO}"] if layout.ended else []),
            *slots,
        )

    def _nothing(self, rows: DataFrame, layout: Layout) -> DataFrame:
        """No rows, but they are read: they tell the time."""
        nulls = (f"CAST(NULL AS {spark_type(f.type)}) AS {f.name}" for f in layout.arrow)
        return rows.where(f"{SOURCE} < 0").selectExpr(*nulls)

    def _slots(self, edge: Edge) -> dict[str, str]:
        """Where the columns of the source of an edge are."""
        name = native_rows(edge.producer).source.scan.source
        (source,) = (each for each in self.sources if each.name == name)
        return self._layout.places(source.schema)


def static_rows(rows: DataFrame, edge: Edge, source: SourceRows, layout: Layout) -> DataFrame:
    """Rows of a relation (their validity, and `source.columns`) as rows of an edge."""
    case = case_of(edge, source.columns, layout)
    slots = [
        f"CAST({case.slots.get(name, 'NULL')} AS {kind}) AS {name}"
        for name, kind in layout.spark_slots
    ]
    tag = [f"INT({edge.tag}) AS {TAG}"] if layout.tagged else []
    return rows.where(case.kept).selectExpr(*tag, VALID_FROM, VALID_TO, *slots)


def _reading(source: SourceRows, edges: Sequence[Edge]) -> list[Edge]:
    """The edges that start at a source."""
    return [edge for edge in edges if native_rows(edge.producer).source.scan.source == source.name]


def _array(numbers: Sequence[int]) -> str:
    return f"CAST(array({', '.join(map(str, numbers))}) AS ARRAY<INT>)"
