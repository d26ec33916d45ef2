"""Where queries run: in this process, or on Spark."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from tidemill.algebra import SourceKind
from tidemill.analyze import Catalog, SourceInfo
from tidemill.engine.pushing import PushedFiles
from tidemill.engine.query import Query
from tidemill.engine.sources import Sources, is_change_source
from tidemill.engine.statistics import StatisticsStore
from tidemill.errors import CatalogError, TidemillError, UnsupportedError
from tidemill.runtime.inprocess.feeds import Backlog, Feed
from tidemill.runtime.inprocess.journal import Journal
from tidemill.runtime.inprocess.live import LiveRun
from tidemill.runtime.inprocess.run import Run
from tidemill.runtime.interface import Execution, Job

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tidemill.runtime.spark.execution import SparkExecution
    from tidemill.runtime.spark.live import LiveRun as SparkLiveRun
    from tidemill.runtime.spark.reading import Origin

    AnyRun = LiveRun | SparkLiveRun

RUNTIMES = ("spark", "inprocess")


class Place:
    """A runtime with the sources of an engine. A Spark session is started when it is needed."""

    def __init__(
        self,
        runtime: str,
        spark: SparkSession | None,
        partitions: int | None,
        catalog: Catalog,
        statistics: StatisticsStore,
    ) -> None:
        if runtime not in RUNTIMES:
            help = f"runtimes: {', '.join(RUNTIMES)}"
            raise UnsupportedError(f"there is no runtime `{runtime}`", help=help)
        if spark is not None and runtime != "spark":
            help = "leave out one of the two"
            raise UnsupportedError(f"the runtime `{runtime}` uses no Spark session", help=help)
        self.on_spark = runtime == "spark"
        self.sources = Sources(self._collect if self.on_spark else None, lambda: self.spark)
        self._spark = spark
        self._owns_session = False
        self._partitions = partitions
        self._catalog = catalog
        self._statistics = statistics

    def close(self) -> None:
        """Give the Spark session back, if it was started here and no one else uses it."""
        if self._owns_session:
            self._owns_session = False
            self._spark = None
            release_session()

    def source(self, name: str) -> SourceInfo:
        """A source by name."""
        entry = self._catalog.lookup(name)
        if not isinstance(entry, SourceInfo):
            help = f"it reads {', '.join(sorted(entry.depends_on))}"
            raise CatalogError(f"`{entry.name}` is computed: it cannot be changed", help=help)
        return entry

    def pushed(self, columns: pa.Schema, folder: str | None) -> PushedFiles | Backlog:
        """Where rows wait that are pushed into a stream: here, or in files for Spark."""
        return PushedFiles(columns, folder) if self.on_spark else Backlog()

    def execution(self, query: Query) -> Execution:
        """A fresh run of a query over bounded input."""
        if self.on_spark:
            return self.execution_on_spark([query])
        self._use([query.job], query.sources)
        feeds = {name: self.sources.feed(info) for name, info in query.sources.items()}
        run = Run(query.job.plan, feeds)
        self._statistics.watch(run.gathering)
        return run

    def execution_on_spark(self, queries: Sequence[Query]) -> SparkExecution:
        """A run of queries together, on Spark."""
        from tidemill.runtime.spark.execution import SparkExecution

        jobs, infos = [query.job for query in queries], _common_sources(queries)
        self._use(jobs, infos)
        origins = {name: self.sources.origin(info) for name, info in infos.items()}
        execution = SparkExecution(self.spark, jobs, origins, self._partitions)
        self._statistics.watch(execution.gathering)
        return execution

    def live_run(
        self, checkpoint: str | None, every: str | None, streams: Collection[str] | None
    ) -> AnyRun:
        """A run of queries that come and go."""
        if self.on_spark:
            run: AnyRun = self._live_on_spark(checkpoint, every, streams)
        else:
            run = LiveRun(self._open, None if checkpoint is None else Journal(checkpoint))
        self._statistics.watch(run.gathering)
        return run

    def _open(self, name: str) -> Feed:
        return self.sources.live_feed(self.source(name))

    def _live_on_spark(
        self, checkpoint: str | None, every: str | None, streams: Collection[str] | None
    ) -> SparkLiveRun:
        from tidemill.runtime.spark.live import LiveRun as SparkLiveRun

        named = None if streams is None else {name.casefold() for name in streams}
        entries = [self._catalog.lookup(name) for name in self._catalog.names]
        origins = {
            entry.name: self.sources.origin(entry)
            for entry in entries
            if isinstance(entry, SourceInfo)
            and entry.kind is SourceKind.STREAM
            and (named is None or entry.name.casefold() in named)
        }

        def relation(name: str) -> Origin:
            return self.sources.origin(self.source(name))

        return SparkLiveRun(self.spark, origins, relation, self._partitions, checkpoint, every)

    def _collect(self, info: SourceInfo, frame: DataFrame | None) -> pa.Table:
        from tidemill.runtime.spark.reading import Origin, collected

        return collected(self.spark, Origin(info, frame=frame))

    def _use(self, jobs: Sequence[Job], infos: Mapping[str, SourceInfo]) -> None:
        """Relations that change have the time of the queries that use them."""
        for info in infos.values():
            if info.kind is SourceKind.CHANGING and not is_change_source(info):
                for job in jobs:
                    self.sources.kept(info).use(job.domain)

    @property
    def spark(self) -> SparkSession:
        """The Spark session that queries run on; one on this machine is started if need be."""
        if self._spark is None:
            self._spark = acquire_session()
            self._owns_session = True
        return self._spark


def acquire_session() -> SparkSession:
    """A session on this machine; Spark is asked for only when it is needed."""
    from tidemill.runtime.spark import session

    return session.acquire()


def release_session() -> None:
    """Give the session back."""
    from tidemill.runtime.spark import session

    session.release()


def _common_sources(queries: Iterable[Query]) -> dict[str, SourceInfo]:
    """The sources of queries that run together."""
    found: dict[str, SourceInfo] = {}
    for query in queries:
        for name, info in query.sources.items():
            if found.setdefault(name, info) != info:
                raise TidemillError(
                    f"`{name}` is not the same stream in all queries: it was dropped and made anew",
                    help="make the queries again with engine.sql",
                )
    return found
