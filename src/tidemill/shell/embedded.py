"""The shell's own engine."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Thread, current_thread, main_thread
from typing import Any

from tidemill import Engine, Query, Report, TidemillError
from tidemill.engine.kept import KeptStore
from tidemill.engine.running import RunningGraph
from tidemill.engine.tables import duration
from tidemill.explain import Explanation
from tidemill.shell import naming
from tidemill.shell.backend import Named, ShellRows, ShellSnapshot
from tidemill.shell.splitting import name_in
from tidemill.show.catalog import catalog_of
from tidemill.show.queries import query_of
from tidemill.sql import InsertInto, QueryStatement, StartQuery, parse_one
from tidemill.timeline import BEGIN, OPEN_END, TimeDomain
from tidemill.wire.queries import QueryEntry

_KEPT = 100_000
"""Rows of every query's answer that are kept."""


class EmbeddedBackend:
    """An engine of the shell's own with a running graph, which ticks `every` so often.

    Without `every`, ticks are made by `tick` alone. Nobody waits for Spark before it is needed: on
    Spark, the graph is started with the first query.

    >>> backend = EmbeddedBackend()
    >>> backend.execute("CREATE RELATION desk (id INT) CHANGING")
    >>> [(each.name, each.kind) for each in backend.names()]
    [('desk', 'relation')]
    """

    def __init__(self, runtime: str = "inprocess", every: str | None = None) -> None:
        self.engine = Engine(runtime=runtime, keep=KeptStore(_KEPT))
        self._every = every
        self._on_spark = runtime == "spark"
        self._failure: Exception | None = None
        self.engine.prepare(quietly=True)
        if not self._on_spark:
            self._run()

    def _run(self) -> RunningGraph:
        """The graph; it is started if it does not run."""
        if self.engine.is_running:
            return self.engine.graph
        graph = self.engine.run(every=None)
        if self._every is not None:
            seconds = duration(self._every, TimeDomain.MICROSECONDS) / 1_000_000
            graph.tick_every(seconds, self._failed)
        return graph

    def _failed(self, error: Exception) -> None:
        self._failure = error

    @property
    def title(self) -> str:
        """What the shell is connected to, in a few words."""
        return "an engine on Spark" if self._on_spark else "an engine in this process"

    def execute(self, sql: str) -> str | None:
        """Run one statement that is no SELECT; the name of the query that it started."""
        with _uninterrupted():
            statement = parse_one(sql)
            if isinstance(statement, StartQuery | InsertInto):
                self._run()
            query = self.engine.sql(sql)
            return None if query is None else str(self.engine.graph.start(query).name)

    def tell(self, sql: str) -> Report:
        """The answer to SHOW, DESCRIBE or EXPLAIN."""
        with self._between_ticks():
            report = self.engine.sql(sql)
        assert isinstance(report, Report)
        return report

    def select(self, sql: str) -> ShellRows:
        """The answer to a SELECT over input that ends."""
        query = self._query(sql)
        if self.engine.catalog.reads_queries(query.depends_on):
            self.settle()
            return ShellRows(self.engine.ask(sql))
        return ShellRows(query.collect())

    def _query(self, sql: str) -> Query:
        if not isinstance(parse_one(sql), QueryStatement):
            raise TidemillError("this is not a query", help="write SELECT ...")
        query = self.engine.sql(sql)
        assert isinstance(query, Query)
        return query

    def names(self) -> Sequence[Named]:
        """Everything that has a name."""
        with self._between_ticks():
            found = [each.name for each in self.engine.listing() if each.kind == "query"]
            return naming.names_of(catalog_of(self.engine, {}, {}), map(self._entry, found))

    def query(self, name: str) -> Named:
        """One query, by the name as it was given."""
        with self._between_ticks():
            return naming.query_of(self._entry(name))

    def _entry(self, name: str) -> QueryEntry:
        run = self.engine.graph.queries.get(name) if self.engine.is_running else None
        query = self.engine.queries.find(name) if run is None else run.definition
        return query_of(name, query, run)

    def _between_ticks(self) -> AbstractContextManager[object]:
        return self.engine.graph.lock if self.engine.is_running else nullcontext()

    def explain(self, query: str, level: str) -> Explanation:
        """A plan; `query` is a SELECT or the name of a query."""
        name = name_in(query)
        found = self._query(query) if name is None else self.engine.queries.find(name)
        return found.explanation(level)

    def snapshot(self, name: str, limit: int) -> ShellSnapshot:
        """The newest answer of a query that runs or ran, cut to a number of rows."""
        self._raise_failure()
        kept = self.engine.kept(name)
        if kept.complete_until == BEGIN:
            return ShellSnapshot(kept.snapshot().slice(0, 0))
        rows, ended = kept.snapshot(), kept.complete_until == OPEN_END
        return ShellSnapshot(rows.slice(0, limit), rows.num_rows > limit, kept.newest, ended)

    def push(self, stream: str, rows: Any) -> int:
        """Push rows, and wait until the queries that run have them; how many."""
        count = self.engine.push(stream, rows)
        if self._every is not None:
            self.settle()
        return count

    def settle(self) -> None:
        """Wait until everything that is there now has been read."""
        if self.engine.is_running:
            _aside(self.engine.graph.process_all_available)
            self._raise_failure()

    def _raise_failure(self) -> None:
        """Tell once about a tick that has failed meanwhile."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def tick(self) -> int:
        """Make a tick; its number."""
        graph = self._run()
        _aside(graph.tick)
        return graph.ticks

    def close(self) -> None:
        """Let go of everything."""
        self.engine.close()


def _aside(work: Callable[[], object]) -> None:
    """Wait for work that Ctrl-C must not tear apart: it goes on if one does not wait for it."""
    done: Future[None] = Future()

    def run() -> None:
        try:
            work()
            done.set_result(None)
        except Exception as error:
            done.set_exception(error)

    Thread(target=run, name="tidemill-work", daemon=True).start()
    done.result()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait: what a statement changes is changed whole or not at all."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
