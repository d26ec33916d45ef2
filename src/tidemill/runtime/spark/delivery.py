"""The queries of a graph that runs on Spark, and what every one of them is given of a tick."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tidemill.physical.cut import cut
from tidemill.runtime.interface import Root
from tidemill.runtime.spark.epochs import Epoch
from tidemill.runtime.spark.findings import Report
from tidemill.runtime.spark.forms import SNAPSHOT
from tidemill.runtime.spark.layout import TAG
from tidemill.runtime.spark.native import native_rows
from tidemill.runtime.spark.sinks import Sink
from tidemill.runtime.spark.table_sinks import TableSink
from tidemill.runtime.spark.tick import TickPlan
from tidemill.timeline import VALID_FROM, VALID_TO


@dataclass
class Member:
    """A query of the graph, with its sink."""

    root: Root
    sink: Sink
    rows_out: int = 0
    began: float = field(default_factory=time.monotonic)


class Delivery:
    """The result rows of one tick. They are made once, whoever wants them."""

    def __init__(
        self,
        plan: TickPlan,
        rows: DataFrame,
        members: Mapping[str, Member],
        epoch: Epoch,
    ) -> None:
        self._plan = plan
        self._epoch = epoch
        # A tick that is done again may be that of a query that was removed since.
        self._members = {name: members[name] for name in epoch.roots if name in members}
        self._collected = {
            epoch.tags[name]
            for name, member in self._members.items()
            if isinstance(member.sink, TableSink)
        }
        self._kept = any(not isinstance(m.sink, TableSink) for m in self._members.values())
        self._rows = rows.persist() if self._kept else rows
        self._tables: dict[int, pl.DataFrame] = {}

    def make(self) -> None:
        """Run the tick; what sinks in the driver want is there then."""
        if not self._collected:
            self._rows.write.format("noop").mode("overwrite").save()
            return
        layout, wanted = self._plan.layouts[-1], self._rows
        if layout.tagged and self._kept:
            wanted = wanted.where(F.col(TAG).isin(sorted(self._collected)))
        table = wanted.toArrow()
        for tag in self._collected:
            edge = self._plan.staged.edge(tag)
            duration = None if edge.made_at else native_rows(edge.producer).duration
            rows = layout.rows_of(table, tag)
            self._tables[tag] = layout.unpack(rows, edge.schema, duration)

    def give(
        self, tick: int, but_not: Collection[str], reports: Sequence[Report]
    ) -> dict[str, Exception]:
        """Let all sinks but some have their rows; why sinks have failed, by query.

        The reports tell how many rows there are that the driver does not see.
        """
        failures: dict[str, Exception] = {}
        for name, member in self._members.items():
            if name not in but_not:
                tag = self._epoch.tags[name]
                if not isinstance(member.sink, TableSink):
                    member.rows_out += sum(each["rows"].get(str(tag), 0) for each in reports)
                try:
                    self._give(member, tag, self._epoch.roots[name].since, tick)
                except Exception as error:
                    failures[name] = error
        return failures

    def _give(self, member: Member, tag: int, since: int, tick: int) -> None:
        if not isinstance(member.sink, TableSink):
            later = self._plan.result(self._rows, tag).where(F.col(VALID_TO) > since)
            member.sink(later.withColumn(VALID_FROM, F.greatest(VALID_FROM, F.lit(since))), tick)
            return
        rows = cut(self._tables[tag], since)
        member.rows_out += rows.height
        if rows.height or member.sink.form == SNAPSHOT:
            member.sink.give(rows, tick)

    def end(self) -> None:
        """Let go of the rows."""
        if self._kept:
            self._rows.unpersist()
