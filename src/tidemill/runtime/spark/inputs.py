"""Rows of the sources as rows of the edges that start there, in Spark's own columns.

All of it comes before the tick, next to the files, so that Spark reads only what is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from tidemill.algebra.schema import Schema
from tidemill.fragments import Edge, LateRowsExec, Staged
from tidemill.runtime.spark.layout import TAG, Layout
from tidemill.runtime.spark.native import native_rows, to_spark
from tidemill.timeline import VALID_FROM, VALID_TO

SOURCE = "source"
NO_EDGE = -3
"""The tag of rows that no edge wants. They still tell the time."""

HEARTBEAT = -4
"""The tag of rows that only tell the time."""

_PASS, _KEPT = "pass", "kept"


@dataclass(frozen=True)
class SourceRows:
    """A source: its number, its columns, and whether it has a clock, or changes without one.

    `idle` is for how many seconds it may bring no rows and still hold the others back.
    """

    number: int
    name: str
    schema: Schema
    slack: int = 0
    has_time: bool = True
    idle: float | None = None
    is_changing: bool = False

    @property
    def columns(self) -> dict[str, str]:
        """How its columns are called on their way to the edges."""
        return {name: f"s{number}" for number, name in enumerate(self.schema.names)}


@dataclass(frozen=True)
class Case:
    """How rows of a source become rows of one edge: expressions in Spark SQL."""

    edge: Edge
    kept: str
    slots: Mapping[str, str]


class Inputs:
    """Turns rows of sources into rows of edges.

    A row that several edges want is copied. The copies bear the number of the source plus the
    number of all sources, so that only one of them counts as a row that came in.
    """

    def __init__(self, staged: Staged, sources: Sequence[SourceRows], layout: Layout) -> None:
        self._sources = sources
        self._layout = layout
        self._edges: dict[str, list[Edge]] = {source.name: [] for source in sources}
        for edge in staged.edges:
            if edge.made_at == 0:
                self._edges[native_rows(edge.producer).source.scan.source].append(edge)
        # Where it matters how time passes, rows that are not wanted tell the time all the same.
        late = any(isinstance(plan, LateRowsExec) for plan in staged.plans)
        self._all_tell_time = bool(staged.stages) or late

    @property
    def ddl(self) -> str:
        """The columns that ticks start from. Rows of streams have no end yet."""
        end = f", {VALID_TO} BIGINT" if self._layout.ended else ""
        slots = "".join(f", {name} {kind}" for name, kind in self._layout.spark_slots)
        return f"{SOURCE} INT, {TAG} INT, {VALID_FROM} BIGINT{end}{slots}"

    def nothing(self, session: SparkSession) -> DataFrame:
        """No rows of any source."""
        return session.createDataFrame([], self.ddl)

    def of_edges(self, source: SourceRows, rows: DataFrame) -> DataFrame:
        """Rows of one source (time, end, and `source.columns`) as rows of its edges."""
        cases = [case_of(edge, source.columns, self._layout) for edge in self._edges[source.name]]
        wanted = choice([case.kept for case in cases])
        if len(cases) > 1:
            numbers = ", ".join(map(str, range(len(cases))))
            rows = rows.selectExpr("*", f"explode(array({numbers})) AS {_PASS}")
        if not self._all_tell_time:
            rows = rows.where(wanted)
            wanted = "true"
        elif len(cases) > 1:
            rows = rows.where(f"{_PASS} = 0 OR {wanted}")
        return self._packed(source, rows.selectExpr("*", f"{wanted} AS {_KEPT}"), cases)

    def _packed(self, source: SourceRows, rows: DataFrame, cases: Sequence[Case]) -> DataFrame:
        number, copy = source.number, source.number + len(self._sources)
        own = f"IF({_PASS} = 0, {number}, {copy})" if len(cases) > 1 else str(number)
        tag = choice([str(case.edge.tag) for case in cases])
        slots = []
        for name, kind in self._layout.spark_slots:
            values = [case.slots.get(name, "NULL") for case in cases]
            # Rows that are not wanted must not fail in an expression that they never reach.
            slots.append(f"CAST(IF({_KEPT}, {choice(values)}, NULL) AS {kind}) AS {name}")
        return rows.selectExpr(
            f"{own} AS {SOURCE}",
            f"IF({_KEPT}, {tag}, {NO_EDGE}) AS {TAG}",
            VALID_FROM,
            *([VALID_TO] if self._layout.ended else []),
            *slots,
        )

    def heartbeats(self, beats: DataFrame) -> DataFrame:
        """What is known about the time of sources (their number, and an instant) as rows."""
        slots = [f"CAST(NULL AS {kind}) AS {name}" for name, kind in self._layout.spark_slots]
        end = [f"CAST(NULL AS BIGINT) AS {VALID_TO}"] if self._layout.ended else []
        return beats.selectExpr(SOURCE, f"{HEARTBEAT} AS {TAG}", VALID_FROM, *end, *slots)


def case_of(edge: Edge, columns: Mapping[str, str], layout: Layout) -> Case:
    """How rows become rows of an edge; `columns` tells where those of its source are."""
    native = native_rows(edge.producer)
    alias = native.source.scan.alias
    names = {f"{alias}.{name}": column for name, column in columns.items()}
    values = {name: to_spark(scalar, names) for name, scalar in native.columns.items()}
    kept = "true" if native.kept is None else to_spark(native.kept, names)
    slots = {slot: values[name] for name, slot in layout.places(edge.schema).items()}
    return Case(edge, kept, slots)


def choice(values: Sequence[str], number: str = _PASS) -> str:
    """One of the values, by its number, in Spark SQL."""
    if len(set(values)) == 1:
        return values[0]
    cases = " ".join(f"WHEN {at} THEN {value}" for at, value in enumerate(values))
    return f"CASE {number} {cases} END"
