"""Sources of tests: tables as streams and relations, and relations that change by a script."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl
import pyarrow as pa

from tidemill.algebra.nodes import VERSION, Scan, SourceKind
from tidemill.algebra.schema import Schema
from tidemill.catalog import SourceInfo
from tidemill.connectors.change_source import DELETED, INSERTED
from tidemill.connectors.feeds import TablesFeed, TableSlice
from tidemill.connectors.sinks import SinkRequest
from tidemill.errors import CatalogError
from tidemill.physical.operator import Exec
from tidemill.physical.operators.source import SourceExec
from tidemill.runtime.fabric import Fabric, InProcess
from tidemill.runtime.followed_relations import FollowedRelations
from tidemill.runtime.interface import Job, Root
from tidemill.runtime.run import Run
from tidemill.runtime.sources import ChangingSource, RelationSource, Source, StreamSource
from tidemill.store import Store
from tidemill.timeline import OPEN_END, TimeDomain


def stream_source(
    name: str,
    tables: Sequence[pa.Table],
    time: str,
    slack: int = 0,
    store: Store | None = None,
    retain: int | None = None,
    ahead: int | None = None,
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
        ahead=ahead,
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


class ScriptedVersions(FollowedRelations):
    """What ticks see of a relation by a script: versions with the numbers that it gives them."""

    def __init__(self, info: SourceInfo, ticks: Sequence[pl.DataFrame]) -> None:
        super().__init__(None, info.name, info.schema, _NothingChanges())
        self._ticks = ticks
        self._next_tick = 0

    def go_on(self, tick: int) -> bool:
        return self._next_tick > 0

    def look(self) -> bool:
        return self._next_tick < len(self._ticks)

    @property
    def open(self) -> pl.DataFrame:
        seen = pl.concat(self._ticks[: self._next_tick])
        ended = seen.filter(pl.col(INSERTED) == pl.col(DELETED))[VERSION]
        return seen.filter((pl.col(DELETED) == OPEN_END) & ~pl.col(VERSION).is_in(ended.implode()))

    def take(self, tick: int, earliest: int) -> pl.DataFrame:
        if self._next_tick >= len(self._ticks):
            return self._ticks[0].clear()
        self._next_tick += 1
        return self._ticks[self._next_tick - 1]


class _NothingChanges:
    def content(self) -> tuple[pa.Table, str]:
        raise AssertionError("the script has the rows")

    def changes(self, position: str) -> tuple[pa.Table, str]:
        raise AssertionError("the script has the changes")


@dataclass(frozen=True)
class ScriptedSource(ChangingSource):
    """A relation that changes as a script says."""

    ticks: Sequence[pl.DataFrame] = ()

    def follow(self, store: Store | None) -> FollowedRelations:
        return ScriptedVersions(self.info, self.ticks)


def changing_source(name: str, ticks: Sequence[pa.Table]) -> ChangingSource:
    """A relation whose versions, with their numbers and instants, come tick by tick."""
    own = (VERSION, INSERTED, DELETED)
    columns = Schema.from_arrow(ticks[0].schema)
    schema = columns.select(column for column in columns.names if column not in own)
    info = SourceInfo(name, schema, SourceKind.CHANGING, TimeDomain.TICKS, declared=schema)
    return ScriptedSource(info, _NothingChanges(), [pl.DataFrame(table) for table in ticks])


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
    for given in run_together({"q": plan}, sources, InProcess(partitions, packs), late=late):
        yield from given.values()


def run_together(
    plans: Mapping[str, Exec],
    sources: Mapping[str, Source],
    fabric: Fabric,
    store: Store | None = None,
    late: dict[str, int] | None = None,
) -> Iterator[dict[str, pl.DataFrame]]:
    """What plans that run together give with every tick, each under its name.

    All streams are read, also those that no plan needs: they tell the time.
    """
    run = Run(fabric, opener(sources), store, bounded=True)
    try:
        rows = {name: Rows() for name in plans}
        roots = {name: _root(plan, rows[name]) for name, plan in plans.items()}
        for name, source in sources.items():
            if isinstance(source, StreamSource):
                leaf = SourceExec(Scan(name, name, source.info.schema))
                roots[f"all of {name}"] = _root(leaf, Rows())
        run.revise(roots, {})
        while not run.is_ended:
            run.tick()
            for failure in run.failures.values():
                raise failure
            yield {name: each.ticks.popitem()[1] for name, each in rows.items() if each.ticks}
        if late is not None:
            late |= {name: read.late_rows for name, read in run.sources.items()}
    finally:
        run.stop()


def _root(plan: Exec, rows: Rows) -> Root:
    return Root(Job(plan, TimeDomain.TICKS, SinkRequest(rows)))


def opener(sources: Mapping[str, Source]) -> Callable[[str], Source]:
    """How a run opens sources that are there already."""

    def opened(name: str) -> Source:
        if name not in sources:
            raise CatalogError(f"there is no source `{name}`")
        return sources[name]

    return opened
