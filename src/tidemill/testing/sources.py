"""Sources of tests: tables as streams and relations, and relations that change by a script."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl
import pyarrow as pa

from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.schema import Schema
from tidemill.analyze import SourceInfo
from tidemill.changes import INSTANT, OPERATION
from tidemill.errors import CatalogError
from tidemill.feeds import TablesFeed, TableSlice
from tidemill.physical.operator import Exec
from tidemill.results import SinkRequest
from tidemill.runtime.fabric import InProcess
from tidemill.runtime.interface import Job, Root
from tidemill.runtime.run import Run
from tidemill.runtime.sources import ChangingSource, RelationSource, Source, StreamSource
from tidemill.store import Store
from tidemill.timeline import TimeDomain


def stream_source(
    name: str,
    tables: Sequence[pa.Table],
    time: str,
    slack: int = 0,
    store: Store | None = None,
    retain: int | None = None,
) -> StreamSource:
    """A stream that brings a table with every tick."""
    columns = Schema.from_arrow(tables[0].schema)
    info = SourceInfo(
        name,
        columns.select(column for column in columns.names if column != time),
        SourceKind.STREAM,
        TimeDomain.TICKS,
        time_column=time,
        time_type=columns[time],
        slack=slack,
        declared=columns,
        retain=retain,
    )
    return StreamSource(info, TablesFeed(name, list(tables), store))


def relation_source(
    name: str, table: pa.Table, valid: tuple[str, str] | None = None
) -> RelationSource:
    """A relation that does not change; two columns may tell when its rows hold."""
    columns = Schema.from_arrow(table.schema)
    start, end = valid or (None, None)
    kind = SourceKind.CONSTANT if valid is None else SourceKind.INTERVALS
    own = columns.select(column for column in columns.names if column not in (valid or ()))
    info = SourceInfo(
        name, own, kind, TimeDomain.TICKS, declared=columns, valid_from=start, valid_to=end
    )
    return RelationSource(info, lambda: [TableSlice(table)])


@dataclass
class ScriptedChanges:
    """A relation that begins empty; every look at it brings the changes of one more tick.

    They are rows with an operation and an instant, in their order.
    """

    schema: Schema
    ticks: Sequence[pa.Table]

    def content(self) -> tuple[pa.Table, str]:
        return self.schema.to_arrow().empty_table(), "0"

    def changes(self, position: str) -> tuple[pa.Table, str]:
        number = int(position)
        if number < len(self.ticks):
            return self.ticks[number], str(number + 1)
        added = pa.schema([*self.schema.to_arrow(), (OPERATION, pa.int8()), (INSTANT, pa.int64())])
        return added.empty_table(), position


def changing_source(name: str, schema: Schema, ticks: Sequence[pa.Table]) -> ChangingSource:
    """A relation that changes as a script says."""
    info = SourceInfo(name, schema, SourceKind.CHANGING, TimeDomain.TICKS, declared=schema)
    return ChangingSource(info, ScriptedChanges(schema, ticks))


@dataclass
class Rows:
    """A sink that keeps what operators give, tick by tick: one that comes again takes its place."""

    ticks: dict[int, pl.DataFrame] = field(default_factory=dict)
    form: str = "intervals"

    def give(self, rows: pl.DataFrame, tick: int) -> None:
        self.ticks[tick] = rows


def run_to_the_end(
    plan: Exec,
    sources: Mapping[str, Source],
    partitions: int = 1,
    packs: bool = False,
    late: dict[str, int] | None = None,
) -> Iterator[pl.DataFrame]:
    """What a plan gives with every tick over input that ends; `late` is told of late rows."""
    run = Run(InProcess(partitions, packs), opener(sources), bounded=True)
    try:
        rows = Rows()
        run.revise({"q": Root(Job(plan, TimeDomain.TICKS, SinkRequest(rows)))}, {})
        while not run.is_ended:
            run.tick()
            if "q" in run.failures:
                raise run.failures["q"]
            yield from rows.ticks.values()
            rows.ticks.clear()
        if late is not None:
            late |= {name: read.late_rows for name, read in run.sources.items()}
    finally:
        run.stop()


def opener(sources: Mapping[str, Source]) -> Callable[[str], Source]:
    """How a run opens sources that are there already."""

    def opened(name: str) -> Source:
        if name not in sources:
            raise CatalogError(f"there is no source `{name}`")
        return sources[name]

    return opened
