"""Questions at one instant: a SELECT over what the answers of queries are then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from tidemill.algebra import SourceKind
from tidemill.catalog import Derived, SourceInfo
from tidemill.engine.hosting import QueryHost
from tidemill.engine.kept import KeptResults
from tidemill.errors import ExecutionError, TidemillError, UnsupportedError
from tidemill.sql import QueryStatement, Statement, parse_one
from tidemill.sql.building import quoted
from tidemill.timeline import OPEN_END

if TYPE_CHECKING:
    from tidemill.engine.engine import Engine


class QueryReading:
    """What a SELECT reads at once: answers of queries, relations, and views over these."""

    def __init__(self, host: QueryHost, statement: Statement) -> None:
        if not isinstance(statement, QueryStatement):
            raise TidemillError("this is not a query", help="write SELECT ... FROM a query")
        self._host = host
        self._queries: dict[str, KeptResults] = {}
        self._relations: list[SourceInfo] = []
        self._views: list[Derived] = []
        for name in sorted(host.planned(statement.sql).depends_on):
            self._take(name)

    def _take(self, name: str) -> None:
        """Note a name, and before it what it is made of."""
        if self._host.queries.has(name):
            self._queries[name] = self._host.kept(name)
            return
        entry = self._host.catalog.lookup(name)
        if isinstance(entry, Derived):
            for used in sorted(entry.depends_on):
                self._take(used)
            self._views.append(entry)
        elif entry.kind is SourceKind.STREAM:
            help = f"CREATE QUERY q AS SELECT ... FROM {name}; START QUERY q; and ask for q"
            raise UnsupportedError(f"the rows of the stream `{name}` are not kept", help=help)
        else:
            self._relations.append(entry)

    def instant(self, at: int | None) -> int:
        """The instant to read at: the newest one that all queries know, or one that they know."""
        if not self._queries:
            raise TidemillError("this reads no query", help="collect() answers it as a whole")
        if at is None:
            return min(kept.newest for kept in self._queries.values())
        for name, kept in self._queries.items():
            if not kept.kept_from <= at < kept.complete_until:
                help = f"it is known from {kept.kept_from} to {_last(kept)}"
                raise ExecutionError(f"the answer of `{name}` is not known at {at}", help=help)
        return at

    def declare(self, beside: Engine, at: int) -> None:
        """Make everything known to another engine, as it is at an instant."""
        catalog = self._host.catalog
        beside.catalog.functions.update(catalog.functions)
        beside.catalog.aggregates.update(catalog.aggregates)
        for name, rows in self._rows(at):
            beside.relation(name, rows)
        for view in {each.name: each for each in self._views}.values():
            beside.execute(parse_one(view.sql))

    def _rows(self, at: int) -> Iterator[tuple[str, pa.Table]]:
        for name, kept in self._queries.items():
            yield name, kept.snapshot(at)
        for relation in {info.name: info for info in self._relations}.values():
            query = self._host.planned(f"SELECT * FROM {quoted(relation.name)}")
            yield relation.name, query.snapshot(at)


def _last(kept: KeptResults) -> str:
    return "the end" if kept.complete_until == OPEN_END else str(kept.complete_until - 1)
