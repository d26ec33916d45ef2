"""The engine with its running graph, as the routes of a server see it."""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from threading import Event, Lock, Thread

from tidemill.catalog import SourceInfo
from tidemill.engine import Engine, Query
from tidemill.engine.kept import KeptResults
from tidemill.engine.started import StartedQuery
from tidemill.errors import CatalogError, PlanWarning
from tidemill.graph.metadata import NodeMetadata
from tidemill.runtime.rate_meter import RateMeter
from tidemill.server.differences import FileDifference
from tidemill.server.events import EventLog
from tidemill.server.history import History
from tidemill.server.logs import is_written
from tidemill.server.persist import CatalogLog
from tidemill.server.problems import Conflict, NotFound
from tidemill.server.resources import Resources, bounds_of, knobs
from tidemill.server.settings import Settings
from tidemill.show.catalog import catalog_of, is_pushed
from tidemill.show.graphs import graph_of, measures_of
from tidemill.show.queries import query_of
from tidemill.wire.catalog import CatalogEntries
from tidemill.wire.graph import GraphReport, Measures, ResourceReport
from tidemill.wire.queries import QueryEntry

Version = tuple[int, int, int]
"""What there is to know has changed if this has: the numbers of ticks, of other changes, and of
looks at what parts do, which fades without ticks."""

_RATES_OVER = 3.0
"""Seconds: rows often come in bursts, and people read slowly."""

_LOOK_EVERY = 1.0
"""Seconds: without ticks, rates fall and time goes on all the same."""


class Service:
    """One engine and its graph. Everything that reads the graph does so between two ticks."""

    def __init__(self, engine: Engine, settings: Settings, log: CatalogLog | None = None) -> None:
        # Warnings are given to whoever asks for a plan, not to the terminal of the server.
        warnings.simplefilter("ignore", PlanWarning)
        self.engine = engine
        self.settings = settings
        self.events = EventLog()
        self.counts: Counter[str] = Counter()
        self.began = time.time()
        self.runtime = settings.runtime
        self.log = log
        self.goes_on = False
        self.differs = FileDifference()
        self.graph = engine.graph if engine.is_running else engine.run(every=None)
        self.lock = self.graph.lock
        self.revision = 0
        self._changes = 0
        self._nodes: Mapping[int, NodeMetadata] = {}
        self._seen_revision = -1
        self._looks = 0
        self._look_at_parts = self.graph.metadata.looking(_RATES_OVER)
        self._looked_at = 0.0
        self._rates: dict[str, RateMeter] = {}
        self.history = History()
        self._resources = Resources()
        self._listeners: list[Callable[[], None]] = []
        self._listening = Lock()
        self.graph.after_each_revision(self._revised)
        self.graph.after_each_tick(self._look)
        self._stopping = Event()
        self._clock = Thread(target=self._look_on_the_clock, name="tidemill-looks", daemon=True)

    def start(self) -> None:
        """Make ticks from now on."""
        self.graph.tick_every(self.settings.every, self._tick_failed)
        self._clock.start()

    def soon(self) -> None:
        """Do not wait with the next tick: somebody waits for it."""
        if self.graph.ticker is not None:
            self.graph.ticker.soon()

    def stop(self) -> None:
        """Finish the tick that is being made, and stop; what waits is in the folder."""
        self._stopping.set()
        if self._clock.is_alive():
            self._clock.join()
        self.engine.close()
        if self.log is not None:
            self.log.close()

    # What is new

    @property
    def version(self) -> Version:
        """Answers that were made at this version are still right."""
        return (self.graph.ticks, self._changes, self._looks)

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call a function when something has changed, from any thread; returns how to stop it."""
        with self._listening:
            self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def changed(self) -> None:
        """Tell those who listen."""
        self._changes += 1
        self._tell()

    def _tell(self) -> None:
        for listener in list(self._listeners):
            listener()

    def _revised(self) -> None:
        self.revision += 1

    def _look(self) -> None:
        """Take note of what all parts do, between two ticks."""
        self._nodes, self._seen_revision = self._look_at_parts(), self.revision
        now = time.time()
        self._looked_at = time.monotonic()
        self._looks += 1
        self.history.look(self._nodes, now)
        self._resources.look(self.graph, self._nodes, now)
        for name, read in self.graph.sources.items():
            self._rates.setdefault(name, RateMeter(_RATES_OVER)).note(read.rows, self._looked_at)
        self.events.look(self.graph)
        self._tell()

    def _look_on_the_clock(self) -> None:
        while not self._stopping.wait(_LOOK_EVERY):
            with self.lock:
                if time.monotonic() - self._looked_at >= _LOOK_EVERY / 2:
                    self._look()

    def _tick_failed(self, error: Exception) -> None:
        self.counts["tick_failures"] += 1
        if not is_written():  # else the log tells of the event
            print(f"error: a tick failed: {error}", file=sys.stderr, flush=True)
        self.events.add("fail", None, f"a tick failed: {error}", self.graph.ticks)
        self._tell()

    # What there is

    @property
    def nodes(self) -> Mapping[int, NodeMetadata]:
        """The parts of the graph: as after the last tick, if they are still the same."""
        return self._nodes if self._seen_revision == self.revision else self.graph.nodes

    def report(self) -> GraphReport:
        """The whole graph."""
        with self.lock:
            return graph_of(self.graph, self.nodes, self.revision)

    def measures(self) -> Measures:
        """What all parts do."""
        with self.lock:
            return measures_of(self.nodes, self.graph.ticks, time.time())

    def resources(self) -> ResourceReport:
        """Bounds, what is needed, which sizes may be changed, and what has happened."""
        with self.lock:
            return ResourceReport(
                bounds=bounds_of(self.graph),
                now=self._resources.now,
                history=self._resources.history(),
                knobs=knobs(self.graph),
                events=self.events.all(),
            )

    def catalog(self) -> CatalogEntries:
        """All streams, relations and derived streams."""
        with self.lock:
            now = time.monotonic()
            rates = {name: meter.rate(now) or 0.0 for name, meter in self._rates.items()}
            return catalog_of(self.engine, self.graph.sources, rates)

    def queries(self) -> list[QueryEntry]:
        """All queries."""
        with self.lock:
            names = [each.name for each in self.engine.listing() if each.kind == "query"]
            return [query_of(name, self.definition(name), self.run_of(name)) for name in names]

    def query(self, name: str) -> QueryEntry:
        """One query."""
        with self.lock:
            known = self.name_of(name)
            return query_of(known, self.definition(known), self.run_of(known))

    # Queries by name

    def name_of(self, name: str) -> str:
        """The name of a query as it was given, whatever its case here."""
        started = {known.casefold(): known for known in self.graph.queries}
        if name.casefold() in started:
            return started[name.casefold()]
        try:
            return self.engine.queries.name_of(name)
        except CatalogError as error:
            raise NotFound(error.message, help=error.help) from None

    def run_of(self, name: str) -> StartedQuery | None:
        """A query that was started, by its name."""
        return self.graph.queries.get(name)

    def started(self, name: str) -> StartedQuery:
        """A query that was started at some time."""
        run = self.run_of(self.name_of(name))
        if run is None:
            help = f"start it: POST /api/queries/{name}/start, or START QUERY {name}"
            raise Conflict(f"the query `{name}` was not started", help=help)
        return run

    def kept(self, name: str) -> KeptResults:
        """The answer of a query, as far as it is known."""
        known = self.name_of(name)
        try:
            return self.engine.kept(known)
        except CatalogError as error:
            help = "queries without INSERT INTO keep theirs here"
            raise Conflict(error.message, help=help) from None

    def is_pushed(self, name: str) -> bool:
        """Whether rows of a source are pushed, and so never end."""
        return is_pushed(self.engine.source(name))

    def definition(self, name: str) -> Query:
        """What a query asks for."""
        run = self.run_of(name)
        try:
            return self.engine.queries.find(name)
        except CatalogError:
            if run is None:
                raise
            return run.definition

    def source(self, name: str) -> SourceInfo:
        """A stream or relation that is not computed; whoever pushes rows waits for no tick."""
        if self.engine.catalog.find(name) is None:
            with self.lock:
                help = self.engine.catalog.remedy(name)
            raise NotFound(f"there is no stream or relation `{name}`", help=help)
        return self.engine.source(name)
