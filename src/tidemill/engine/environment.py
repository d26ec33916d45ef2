"""Where queries run: in this process, or on Spark."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tidemill.catalog import Catalog, SourceInfo
from tidemill.connectors.sinks import LateCallback
from tidemill.deadline import UNLIMITED, TickLimits
from tidemill.engine.session import SparkStart
from tidemill.engine.sources import Sources
from tidemill.engine.statistics import StatisticsStore
from tidemill.errors import CatalogError, UnsupportedError
from tidemill.graph.shapes import ConstantRelations, is_constants
from tidemill.runtime.codec import KnownFunctions
from tidemill.runtime.fabric import Fabric, InProcess
from tidemill.runtime.run import Run
from tidemill.runtime.sources import Source
from tidemill.store import Durability, Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RUNTIMES = ("spark", "inprocess")


class Environment:
    """A fabric with what an engine knows by name; a Spark session is started when it is needed."""

    def __init__(
        self,
        runtime: str,
        spark: SparkSession | None,
        partitions: int | None,
        latency: float | None,
        durability: Durability,
        limits: TickLimits,
    ) -> None:
        if runtime not in RUNTIMES:
            help = f"runtimes: {', '.join(RUNTIMES)}"
            raise UnsupportedError(f"there is no runtime `{runtime}`", help=help)
        if spark is not None and runtime != "spark":
            help = "leave out one of the two"
            raise UnsupportedError(f"the runtime `{runtime}` uses no Spark session", help=help)
        if spark is not None:
            from tidemill.runtime.spark.importing import check_workers

            check_workers(spark)
        self.on_spark = runtime == "spark"
        self.sources = Sources((lambda: self.spark) if self.on_spark else None)
        self._session = SparkStart(spark)
        self._partitions = partitions
        self.catalog = Catalog()
        self.statistics = StatisticsStore(self.catalog)
        self._latency = latency
        self._durability = durability
        self._limits = limits

    def close(self) -> None:
        """Give the Spark session back, if it was started here and no one else uses it."""
        self._session.close()

    def source(self, name: str) -> SourceInfo:
        """A source by name."""
        entry = self.catalog.lookup(name)
        if not isinstance(entry, SourceInfo):
            help = f"it reads {', '.join(sorted(entry.depends_on))}"
            raise CatalogError(f"`{entry.name}` is derived: it cannot be changed", help=help)
        return entry

    def run(
        self,
        checkpoint: str | None = None,
        bounded: bool = False,
        late: str | LateCallback | None = None,
        is_open: bool = False,
        constants: ConstantRelations | None = None,
    ) -> Run:
        """A run over the sources of the engine; one that is `bounded` comes to an end.

        One that is open for more queries goes on when those that it has fail. The `constants` of
        queries are relations without a declaration.
        """
        store = None
        if checkpoint is not None:
            store = Store(checkpoint, self._durability)
        elif self.on_spark:
            store = Store.temporary()  # workers need a place for what they remember
        opener = partial(self._open, store, bounded, constants)
        fabric = self._fabric()
        known = KnownFunctions(self.catalog.functions, self.catalog.aggregates)
        run = Run(
            fabric,
            opener,
            store,
            bounded,
            late,
            not is_open,
            self._latency,
            known,
            self._partitions,
            UNLIMITED if bounded else self._limits,
            lambda: self.statistics.known,
        )
        self.statistics.watch(run.gathering)
        return run

    @property
    def partitions(self) -> int:
        """Into how many parts rows are distributed."""
        return self._fabric().partitions

    def _fabric(self) -> Fabric:
        if not self.on_spark:
            return InProcess(self._partitions or 1)
        from tidemill.runtime.spark.fabric import SparkFabric

        return SparkFabric(self.spark, self._partitions)

    def _open(
        self, store: Store | None, bounded: bool, constants: ConstantRelations | None, name: str
    ) -> Source:
        if constants is not None and is_constants(name):
            return constants.open(name)
        return self.sources.open(self.source(name), store, bounded)

    @property
    def spark(self) -> SparkSession:
        """The Spark session that queries run on; one on this machine is started if need be."""
        return self._session.now

    @property
    def is_ready(self) -> bool:
        """Whether queries can run without a start of Spark."""
        return not self.on_spark or self._session.is_there

    def prepare(self, quietly: bool = False) -> None:
        """Let Spark get ready while other things are done, if queries run there."""
        if self.on_spark:
            self._session.prepare(quietly)

    @property
    def title(self) -> str:
        """Where queries run, in a few words."""
        if not self.on_spark:
            return "in this process"
        context = self.spark.sparkContext
        return f"on Spark {context.version}, {context.master}"
