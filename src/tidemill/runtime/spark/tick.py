"""One tick: from the new rows of the sources to the new rows of the result."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from tidemill.algebra.schema import Schema
from tidemill.fragments import Edge, Mode, Stage, Staged
from tidemill.fragments.stages import RESULT
from tidemill.runtime.spark.layout import NOTE, PARTITION, TAG, Layout
from tidemill.runtime.spark.native import native_rows, partition_of, to_spark
from tidemill.runtime.spark.worker import StageTask
from tidemill.timeline import BEGIN, OPEN_END, VALID_FROM, VALID_TO

SOURCE, TIME = "source", "time"
_START = -1  # the tag of rows that only make sure that every partition runs


@dataclass(frozen=True)
class Marks:
    """The watermarks with which a tick runs: of sources by name, of edges by tag.

    `newest` is the time of the newest row of any stream so far, if there was one.
    """

    sources: Mapping[str, int] = field(default_factory=dict)
    edges: Mapping[int, int] = field(default_factory=dict)
    newest: int | None = None

    def of(self, edge: Edge) -> int:
        if edge.made_at > 0:
            return self.edges.get(edge.tag, BEGIN)
        return self.sources.get(native_rows(edge.producer).source.scan.source, BEGIN)

    def until_now(self, mark: int) -> int:
        """A watermark, but not beyond the newest row.

        At the end of the input, watermarks go to the end of time, where all windows are empty.
        The last snapshot is that of the last instant that has brought something.
        """
        return min(mark, OPEN_END if self.newest is None else self.newest + 1)


@dataclass(frozen=True)
class SourceRows:
    """A source in the common DataFrame: its number, its columns, and whether it has a clock."""

    number: int
    name: str
    schema: Schema
    slack: int = 0
    has_time: bool = True


@dataclass(frozen=True)
class _Case:
    """How rows of one source become rows of one edge: expressions in Spark SQL."""

    edge: Edge
    test: str
    kept: str
    end: str
    slots: Mapping[str, str]
    partition: str


@dataclass
class TickPlan:
    """A staged plan made ready for ticks."""

    staged: Staged
    sources: list[SourceRows]
    partitions: int
    state: str
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        self.input_layout = Layout.of(source.schema for source in self.sources)
        self.layout = Layout.of(edge.schema for edge in self.staged.edges)

    def run(self, batch: DataFrame, tick: int, marks: Marks) -> tuple[DataFrame, Observation]:
        """The result rows of a tick, and what is known about it once they have been used."""
        seen = Observation()
        rows = batch.observe(seen, *self._source_facts(marks))
        rows = self._native(rows, marks)
        for stage in self.staged.stages:
            task = StageTask(
                self.staged,
                stage,
                self.layout,
                tick,
                self._marks_of(stage, marks),
                self.state,
                self.run_id,
            )
            moved = self._with_starts(rows).repartitionById(self.partitions, F.col(PARTITION))
            rows = moved.mapInArrow(task, self.layout.ddl)
            rows = self._addressed(rows, stage.level)
        return rows, seen

    def _marks_of(self, stage: Stage, marks: Marks) -> dict[int, int]:
        known = {leaf.tag: marks.of(self.staged.edge(leaf.tag)) for leaf in stage.leaves}
        if stage.is_snapshot:
            return {tag: marks.until_now(mark) for tag, mark in known.items()}
        return known

    def _source_facts(self, marks: Marks) -> list[Any]:
        """Per source: rows, late rows, and the newest time."""
        facts = []
        for source in self.sources:
            own = F.col(SOURCE) == source.number
            late = own & F.expr(f"{TIME} < {self._watermark(marks)}") & F.lit(source.has_time)
            facts += [
                F.count(F.when(own, 1)).alias(f"rows{source.number}"),
                F.count(F.when(late, 1)).alias(f"late{source.number}"),
                F.max(F.when(own, F.col(TIME))).alias(f"newest{source.number}"),
            ]
        return facts

    def _watermark(self, marks: Marks) -> str:
        """The watermark of the source of a row, in Spark SQL.

        It is looked up in an array, to which the code that Spark generates only refers. A number
        would stand in that code itself, which would then be compiled anew with every tick.
        """
        known = [marks.sources.get(source.name, BEGIN) for source in self.sources]
        return f"element_at(array({', '.join(f'{mark}L' for mark in known)}), {SOURCE} + 1)"

    def _native(self, rows: DataFrame, marks: Marks) -> DataFrame:
        """Rows of the sources as rows of the edges that start there."""
        edges = [edge for edge in self.staged.edges if edge.made_at == 0]
        by_source = {source.name: source for source in self.sources}
        passes: list[list[tuple[Edge, SourceRows]]] = []
        for edge in edges:
            source = by_source[native_rows(edge.producer).source.scan.source]
            # A row of a source can become only one row at a time.
            free = [p for p in passes if all(other is not source for _, other in p)]
            if not free:
                passes.append([])
            (free or passes[-1:])[0].append((edge, source))
        if len(passes) > 1:
            numbers = F.array(*(F.lit(number) for number in range(len(passes))))
            rows = rows.withColumn("pass", F.explode(numbers))
        else:
            rows = rows.withColumn("pass", F.lit(0))
        cases = [
            self._case(n, edge, source, marks) for n, p in enumerate(passes) for edge, source in p
        ]
        return self._select(rows, cases)

    def _select(self, rows: DataFrame, cases: list[_Case]) -> DataFrame:
        """One SELECT whose columns depend on the source and the pass."""
        slots = [
            F.expr(_switch([(c.test, c.slots[name]) for c in cases if name in c.slots], kind))
            for name, kind in self.layout.spark_slots
        ]
        kept = " ".join(f"WHEN {c.test} THEN {c.kept}" for c in cases)
        tag = " ".join(f"WHEN {c.test} THEN {c.edge.tag}" for c in cases)
        end = " ".join(f"WHEN {c.test} THEN {c.end}" for c in cases)
        return rows.where(f"CASE {kept} ELSE false END").select(
            F.expr(f"CAST(CASE {tag} END AS INT)").alias(TAG),
            _destination((c.edge, c.test, c.partition) for c in cases).alias(PARTITION),
            F.col(TIME).alias(VALID_FROM),
            F.expr(f"CASE {end} END").alias(VALID_TO),
            *(slot.alias(name) for slot, (name, _) in zip(slots, self.layout.slots, strict=True)),
            F.lit(None).cast("string").alias(NOTE),
        )

    def _case(self, number: int, edge: Edge, source: SourceRows, marks: Marks) -> _Case:
        """How rows of a source become rows of an edge, in Spark SQL."""
        native = native_rows(edge.producer)
        own = self.input_layout.places(source.schema)
        places = {f"{native.source.scan.alias}.{name}": slot for name, slot in own.items()}
        values = {name: to_spark(scalar, places) for name, scalar in native.columns.items()}
        conditions = [] if native.kept is None else [to_spark(native.kept, places)]
        if source.has_time:
            conditions.append(f"{TIME} >= {self._watermark(marks)}")
        return _Case(
            edge=edge,
            test=f"{SOURCE} = {source.number} AND pass = {number}",
            kept=" AND ".join(f"({each})" for each in conditions) or "true",
            end=_end(native.duration) if source.has_time else VALID_TO,
            slots={slot: values[name] for name, slot in self.layout.places(edge.schema).items()},
            # Results that Spark makes alone need no partition of ours.
            partition="0"
            if edge.tag == RESULT
            else partition_of(edge, values, edge.schema, self.partitions),
        )

    def _with_starts(self, rows: DataFrame) -> DataFrame:
        """A row for every partition, so that operators run even where nothing arrived."""
        session = rows.sparkSession
        starts = session.range(self.partitions).select(
            F.lit(_START).alias(TAG),
            F.col("id").cast("int").alias(PARTITION),
            F.lit(0).cast("long").alias(VALID_FROM),
            F.lit(0).cast("long").alias(VALID_TO),
            *(F.expr(_switch([], kind)).alias(name) for name, kind in self.layout.spark_slots),
            F.lit(None).cast("string").alias(NOTE),
        )
        return rows.union(starts)

    def _addressed(self, rows: DataFrame, level: int) -> DataFrame:
        """Send the rows that a stage has made to the partitions where they are needed."""
        made = [e for e in self.staged.edges if e.made_at == level and e.tag != RESULT]
        if not made:
            return rows
        target = _destination(((e, f"{TAG} = {e.tag}", self._place(e)) for e in made), PARTITION)
        return (
            rows.withColumn("target", target)
            .drop(PARTITION)
            .select(
                TAG,
                F.col("target").alias(PARTITION),
                *(c for c in rows.columns if c not in (TAG, PARTITION)),
            )
        )

    def _place(self, edge: Edge) -> str:
        return partition_of(edge, self.layout.places(edge.schema), edge.schema, self.partitions)

    def result(self, rows: DataFrame) -> DataFrame:
        """The rows of the result under their own names."""
        schema = self.staged.edge(RESULT).schema
        places = self.layout.places(schema)
        return rows.where(F.col(TAG) == RESULT).select(
            *(F.col(places[name]).alias(name) for name in schema.names), VALID_FROM, VALID_TO
        )

    def next_marks(self, marks: Marks, facts: Mapping[str, Any], reports: list[Any]) -> Marks:
        """The watermarks after a tick, from what was seen in it."""
        sources, latest = dict(marks.sources), marks.newest
        for source in self.sources:
            newest = facts.get(f"newest{source.number}")
            if source.has_time and newest is not None:
                mark = max(sources.get(source.name, BEGIN), newest - source.slack)
                sources[source.name] = mark
                latest = newest if latest is None else max(latest, newest)
        edges: dict[int, int] = {}
        for report in reports:
            for tag, mark in report["watermarks"].items():
                edges[int(tag)] = min(mark, edges.get(int(tag), OPEN_END))
        return Marks(sources, edges, latest)


def nothing_new(session: SparkSession, layout: Layout) -> DataFrame:
    """No rows of any source."""
    slots = "".join(f", {name} {kind}" for name, kind in layout.spark_slots)
    return session.createDataFrame([], f"{SOURCE} INT, {TIME} BIGINT, {VALID_TO} BIGINT{slots}")


def _end(duration: int) -> str:
    """The end of a window over an instant; what reaches beyond the end of time is open."""
    end = f"{TIME} + {duration}"
    last = OPEN_END - duration
    return f"CASE WHEN {TIME} < {last} THEN {end} ELSE {OPEN_END} END"


def _destination(cases: Iterable[tuple[Edge, str, str]], otherwise: str = "NULL") -> Column:
    """The partition of each row, by edges with their tests; rows that go to all are multiplied."""
    known = list(cases)
    to_all = any(edge.mode is Mode.BROADCAST for edge, _, _ in known)

    def place(where: str, many: bool) -> str:
        return where if many or not to_all else f"array({where})"

    tests = " ".join(
        f"WHEN {test} THEN {place(where, edge.mode is Mode.BROADCAST)}"
        for edge, test, where in known
    )
    chosen = F.expr(f"CASE {tests} ELSE {place(otherwise, False)} END")
    return F.explode(chosen) if to_all else chosen.cast("int")


def _switch(cases: list[tuple[str, str]], kind: str) -> str:
    """A CASE over tests and values; NULL where none holds."""
    if not cases:
        return f"CAST(NULL AS {kind})"
    return f"CASE {' '.join(f'WHEN {test} THEN {value}' for test, value in cases)} END"
