"""The shell's own engine."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any

from tidemill import Engine, Query, TidemillError
from tidemill.algebra import Schema, SourceKind
from tidemill.algebra.types import name_of
from tidemill.analyze import Derived, SourceInfo
from tidemill.engine.kept import KeptStore
from tidemill.errors import CatalogError
from tidemill.shell.backend import Column, Named, Rows, Snapshot
from tidemill.shell.splitting import name_in
from tidemill.sql import InsertInto, QueryStatement, parse_one
from tidemill.terminal.plans import Level, plan_lines
from tidemill.timeline import BEGIN, OPEN_END

_KEPT = 100_000
"""Rows of every query's answer that are kept."""


class EmbeddedBackend:
    """An engine in this process with a running graph, which ticks `every` so often.

    Without `every`, ticks are made by `tick` alone. On Spark, the graph is started with the first
    query: it reads the streams that are known by then.

    >>> backend = EmbeddedBackend()
    >>> backend.execute("CREATE RELATION desk (id INT) CHANGING")
    >>> [(each.name, each.kind) for each in backend.names()]
    [('desk', 'relation')]
    """

    def __init__(self, runtime: str = "inprocess", every: str | None = None) -> None:
        self.engine = Engine(runtime=runtime, keep=KeptStore(_KEPT))
        self._every = every
        self._on_spark = runtime == "spark"
        if not self._on_spark:
            self.engine.run(every=every)

    @property
    def title(self) -> str:
        """What the shell is connected to, in a few words."""
        return "an engine on Spark" if self._on_spark else "an engine in this process"

    def execute(self, sql: str) -> str | None:
        """Run one statement that is no SELECT; the name of the query that it started."""
        with _uninterrupted():
            statement = parse_one(sql)
            query = self.engine.sql(sql)
            if query is None or not isinstance(statement, InsertInto):
                return None
            self._run()
            return self.engine.graph.start(query).name

    def _run(self) -> None:
        if not self.engine.is_running:
            self.engine.run(every=self._every)

    def select(self, sql: str) -> Rows:
        """The answer to a SELECT over input that ends."""
        query = self._query(sql)
        for name, info in query.sources.items():
            if _is_pushed(info):
                raise CatalogError(
                    f"rows are pushed into `{name}` for ever, so this has no last answer",
                    help="\\watch SELECT ... shows what holds now, CREATE QUERY keeps it running",
                )
        return Rows(query.collect())

    def _query(self, sql: str) -> Query:
        if not isinstance(parse_one(sql), QueryStatement):
            raise TidemillError("that is no query", help="write SELECT ...")
        query = self.engine.sql(sql)
        assert query is not None
        return query

    def names(self) -> Sequence[Named]:
        """Everything that has a name."""
        return [
            self._named_query(each.name, each.state, each.error, each.depends_on)
            if each.kind == "query"
            else self._entry(each.name, each.kind, each.depends_on, each.used_by)
            for each in self.engine.listing()
        ]

    def _entry(
        self, name: str, kind: str, reads: tuple[str, ...], used_by: tuple[str, ...]
    ) -> Named:
        entry = self.engine.catalog.lookup(name)
        if isinstance(entry, Derived):
            columns = _columns(entry.schema)
            return Named(
                name, kind, columns, None, 0, entry.domain, reads=reads, used_by=used_by,
                sql=entry.sql,
            )  # fmt: skip
        return Named(
            name, kind, _source_columns(entry), entry.time_column, entry.slack, entry.domain,
            pushed=_is_pushed(entry), used_by=used_by,
        )  # fmt: skip

    def _named_query(self, name: str, state: str, error: str, reads: tuple[str, ...]) -> Named:
        graph = self.engine.graph if self.engine.is_running else None
        started = None if graph is None else graph.queries.get(name)
        query = started.definition if started else self.engine.queries.find(name)
        return Named(
            name, "query", _columns(query.schema), domain=query.planned.domain, state=state,
            error=error, complete_from=started.complete_from if started else 0, reads=reads,
            sql=query.sql,
        )  # fmt: skip

    def explain(self, query: str, level: str) -> list[str]:
        """The lines of a plan; `query` is a SELECT or the name of a query."""
        name = name_in(query)
        found = self._query(query) if name is None else self.engine.queries.find(name)
        return plan_lines(found, Level(level))

    def snapshot(self, name: str, limit: int) -> Snapshot:
        """What a query that runs, or did, says now: at most so many rows."""
        kept = self.engine.kept(name)
        if kept.complete_until == BEGIN:
            return Snapshot(kept.snapshot().slice(0, 0))
        rows, ended = kept.snapshot(), kept.complete_until == OPEN_END
        return Snapshot(rows.slice(0, limit), rows.num_rows > limit, kept.newest, ended)

    def push(self, stream: str, rows: Any) -> int:
        """Push rows, and wait until the queries that run have them; how many."""
        count = self.engine.push(stream, rows)
        if self._every is not None:
            self.settle()
        return count

    def settle(self) -> None:
        """Wait until everything that is there now has been read."""
        if self.engine.is_running:
            self.engine.graph.process_all_available()

    def tick(self) -> int:
        """Make a tick; its number."""
        graph = self.engine.graph
        graph.tick()
        return graph.graph.run.ticks

    def close(self) -> None:
        """Let go of everything."""
        self.engine.close()


def _is_pushed(info: SourceInfo) -> bool:
    """Whether a stream was declared without a source: its rows are pushed."""
    return info.kind is SourceKind.STREAM and info.format is None and not info.bounded


def _columns(schema: Schema) -> tuple[Column, ...]:
    return tuple(Column(field.name, name_of(field.type)) for field in schema)


def _source_columns(info: SourceInfo) -> tuple[Column, ...]:
    """All columns of a source; its time is one that queries can name."""
    if len(info.declared):
        return _columns(info.declared)
    time = (
        (Column(info.time_column, name_of(info.time_type)),)
        if info.time_column and info.time_type
        else ()
    )
    return (*_columns(info.schema), *time)


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
