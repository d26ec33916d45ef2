"""One tick: from the new rows of the sources to the new rows of the results."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

from tidemill.fragments import Edge, Mode, Staged
from tidemill.runtime.spark.inputs import HEARTBEAT, SOURCE, SourceRows
from tidemill.runtime.spark.layout import TAG, Layout
from tidemill.runtime.spark.native import PARTITION, native_rows, partition_of
from tidemill.runtime.spark.news import gathered
from tidemill.runtime.spark.state import StateStore
from tidemill.runtime.spark.worker import Handover, StageTask
from tidemill.timeline import BEGIN, OPEN_END, VALID_FROM, VALID_TO


@dataclass(frozen=True)
class Marks:
    """The watermarks with which a tick runs: of sources by name, of edges by tag.

    `newest` is the time of the newest row of any stream so far, if there was one.
    """

    sources: Mapping[str, int] = field(default_factory=dict)
    edges: Mapping[int, int] = field(default_factory=dict)
    newest: int | None = None

    @staticmethod
    def load(text: str) -> Marks:
        """Watermarks that were stored."""
        stored = json.loads(text)
        edges = {int(tag): mark for tag, mark in stored["edges"].items()}
        return Marks(stored["sources"], edges, stored["newest"])

    def dump(self) -> str:
        """The watermarks as text."""
        return json.dumps(asdict(self))

    def of(self, edge: Edge) -> int:
        """At the end of the input, watermarks go to the end of time, where all windows are empty.

        Snapshots stop at the last instant that has brought something.
        """
        if edge.made_at > 0:
            mark = self.edges.get(edge.tag, BEGIN)
        else:
            mark = self.sources.get(native_rows(edge.producer).source.scan.source, BEGIN)
        if edge.mode is Mode.NOW and self.newest is not None:
            return min(mark, self.newest + 1)
        return mark


@dataclass
class TickPlan:
    """Staged plans made ready for ticks."""

    staged: Staged
    sources: Sequence[SourceRows]
    layouts: Sequence[Layout]
    partitions: int
    state: str
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex)

    def run(
        self, batch: DataFrame, tick: int, marks: Marks, reports: Sequence[Mapping[str, Any]]
    ) -> tuple[DataFrame, Observation]:
        """The result rows of a tick, and what is known about it once they have been used.

        The reports are those of the tick before.
        """
        seen = Observation()
        facts = [*self.source_facts(marks), *self._native_facts(marks)]
        rows = self._in_time(batch.observe(seen, *facts), marks)
        return self.through(rows, tick, marks, reports), seen

    def through(
        self,
        rows: DataFrame,
        tick: int,
        marks: Marks,
        reports: Sequence[Mapping[str, Any]],
        handovers: Mapping[int, Handover] | None = None,
        tolerant: bool = False,
    ) -> DataFrame:
        """The result rows, from those of the edges that start at sources."""
        for stage in self.staged.stages:
            task = StageTask(
                self.staged,
                stage,
                self.layouts[stage.level - 1],
                self.layouts[stage.level],
                tick,
                {leaf.tag: marks.of(self.staged.edge(leaf.tag)) for leaf in stage.leaves},
                self.state,
                self.run_id,
                gathered(reports, stage.level),
                (handovers or {}).get(stage.level),
                tolerant,
            )
            moved = self._moved(rows, stage.level - 1)
            rows = moved.mapInArrow(task, self.layouts[stage.level].ddl)
        return rows

    def source_facts(self, marks: Marks) -> list[Column]:
        """Per source: rows, late rows, and the newest time; the oldest, of rows in time."""
        late = f"{VALID_FROM} < {self.watermark(marks)}"
        facts = []
        for source in self.sources:
            own = f"{SOURCE} = {source.number}"
            row = f"{own} AND {TAG} <> {HEARTBEAT}"
            facts += [
                F.expr(f"count_if({row}) AS rows{source.number}"),
                F.expr(f"count_if({row} AND {late}) AS late{source.number}"),
                F.expr(f"max(IF({own}, {VALID_FROM}, NULL)) AS newest{source.number}"),
                F.expr(
                    f"min(IF({row} AND NOT {late}, {VALID_FROM}, NULL)) AS oldest{source.number}"
                ),
            ]
        return facts

    def _native_facts(self, marks: Marks) -> list[Column]:
        """How many rows each result has that Spark makes alone."""
        facts = []
        for tag in dict.fromkeys(self.staged.results):
            edge = self.staged.edge(tag)
            if not edge.made_at:
                side = "<" if _is_late(edge) else ">="
                wanted = f"{TAG} = {tag} AND {VALID_FROM} {side} {self.watermark(marks)}"
                facts.append(F.expr(f"count_if({wanted}) AS results{tag}"))
        return facts

    def watermark(self, marks: Marks) -> str:
        """The watermark of the source of a row, in Spark SQL.

        It is looked up in an array, to which the code that Spark generates only refers. A number
        would stand in that code itself, which would then be compiled anew with every tick.
        """
        known = [
            marks.sources.get(source.name, BEGIN) if source.has_time else BEGIN
            for source in self.sources
        ]
        # Copies of rows bear numbers after those of all sources.
        array = ", ".join(f"{mark}L" for mark in known * 2)
        return f"element_at(array({array}), {SOURCE} + 1)"

    def _in_time(self, rows: DataFrame, marks: Marks) -> DataFrame:
        """Leave out what no edge wants, and late rows, unless an edge wants just these."""
        watermark = self.watermark(marks)
        wanted = f"{VALID_FROM} >= {watermark}"
        late = [str(edge.tag) for edge in self.staged.edges if _is_late(edge)]
        if late:
            is_late = f"{TAG} IN ({', '.join(late)})"
            rows = rows.withColumn(VALID_TO, F.expr(f"IF({is_late}, {watermark}, {VALID_TO})"))
            wanted = f"IF({is_late}, NOT {wanted}, {wanted})"
        return rows.where(f"{TAG} >= 0 AND {wanted}").select(*self.layouts[0].arrow.names)

    def _moved(self, rows: DataFrame, level: int) -> DataFrame:
        """Send rows to the partitions where the next stage needs them.

        Those that this level has made go where their edges say; others are there already.
        """
        layout = self.layouts[level]
        made = [edge for edge in self.staged.crossing(level) if edge.made_at == level]
        places = {edge.tag: self._place(edge, layout) for edge in made}
        to_all = {edge.tag for edge in made if edge.mode is Mode.BROADCAST}
        stay = PARTITION if layout.placed else "NULL"
        if not to_all:
            target = F.expr(_by_tag(layout, places, stay)).cast("int")
            return rows.repartitionById(self.partitions, target)
        several = {
            tag: place if tag in to_all else f"array(int({place}))" for tag, place in places.items()
        }
        targets = F.explode(F.expr(_by_tag(layout, several, f"array({stay})")))
        copied = rows.withColumn("target", targets)
        return copied.repartitionById(self.partitions, F.col("target")).drop("target")

    def _place(self, edge: Edge, layout: Layout) -> str:
        if edge.is_result:
            # Results only pass by on their way to the sink.
            return PARTITION if edge.made_at else f"pmod({VALID_FROM}, {self.partitions})"
        return partition_of(edge, layout.places(edge.schema), self.partitions)

    def result(self, rows: DataFrame, tag: int) -> DataFrame:
        """The rows of a result under their own names."""
        edge, layout = self.staged.edge(tag), self.layouts[-1]
        places = layout.places(edge.schema)
        names = [F.col(places[name]).alias(name) for name in edge.schema.names]
        # Spark's own rows of streams have no end until here.
        duration = None if edge.made_at or _is_late(edge) else native_rows(edge.producer).duration
        end = F.expr(VALID_TO if duration is None else duration.end_in_spark())
        own = rows.where(F.col(TAG) == tag) if layout.tagged else rows
        return own.select(*names, VALID_FROM, end.alias(VALID_TO))

    def reports(self, tick: int) -> list[dict[str, Any]]:
        """What the tasks of a tick have to say, when all of them are done."""
        return [
            StateStore(self.state, stage.level, partition).read_report(tick)
            for stage in self.staged.stages
            for partition in range(self.partitions)
        ]

    def next_marks(
        self, marks: Marks, facts: Mapping[str, Any], reports: Sequence[Mapping[str, Any]]
    ) -> Marks:
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


def _is_late(edge: Edge) -> bool:
    return edge.made_at == 0 and native_rows(edge.producer).late


def _by_tag(layout: Layout, values: Mapping[int, str], otherwise: str) -> str:
    """The value for the tag of a row, in Spark SQL."""
    if not layout.tagged:
        return next(iter(values.values()))
    cases = " ".join(f"WHEN {tag} THEN {value}" for tag, value in values.items())
    return f"CASE {TAG} {cases} ELSE {otherwise} END"
