"""Queries with a name: their definitions, what they are doing, and what depends on what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from tidemill.catalog import Catalog, Derived
from tidemill.catalog.catalog import refuse_itself
from tidemill.engine.query import Query
from tidemill.engine.running import RunningGraph
from tidemill.errors import CatalogError, nearest


def name_is_taken(name: str) -> CatalogError:
    """What is said of a name that something has already."""
    help = f"choose another name, or drop `{name}` first"
    return CatalogError(f"`{name}` already exists", help=help)


def unknown_query(name: str, known: Iterable[str]) -> CatalogError:
    """What is said of a query that is not there.

    >>> print(unknown_query("hott", ["hot", "cold"]))
    error: there is no query `hott`
    help: did you mean `hot`? queries: hot, cold
    """
    names = tuple(known)
    near = nearest(name, names)
    guess = f"did you mean `{near}`? " if near else ""
    help = f"{guess}queries: {', '.join(names) or 'none'}"
    return CatalogError(f"there is no query `{name}`", help=help)


@dataclass(frozen=True)
class Listed:
    """One entry of the catalog, as `engine.listing()` gives it.

    `state` is that of a query: `running`, `stopped`, or `failed`, with what went wrong in `error`.
    """

    name: str
    kind: str
    state: str = ""
    depends_on: tuple[str, ...] = ()
    used_by: tuple[str, ...] = ()
    error: str = ""


def _readable(name: str, query: Query) -> Derived:
    """The answer of a query, as other queries read it."""
    planned = query.planned
    return Derived(
        name=name,
        plan=planned.plan,
        schema=query.schema,
        domain=planned.domain,
        sql=query.sql,
        depends_on=query.depends_on,
        word="query",
        hints=planned.hints,
    )


class NamedQueries:
    """The queries that were given a name; `graph` is the one that runs, if there is one."""

    def __init__(self, catalog: Catalog, graph: Callable[[], RunningGraph | None]) -> None:
        self._catalog = catalog
        self._graph = graph
        self._names: dict[str, str] = {}
        self._defined: dict[str, Query] = {}

    def define(self, name: str, query: Query) -> None:
        """Keep a query under a name. It does not run yet."""
        if name.casefold() in self._names or self._catalog.find(name) is not None:
            raise name_is_taken(name)
        self._names[name.casefold()] = name
        self._keep(name, query)

    def redefine(self, name: str, query: Query) -> None:
        """Keep another query under the name of one."""
        self._keep(self.name_of(name), query)

    def _keep(self, name: str, query: Query) -> None:
        self._defined[name] = query
        self._catalog.define_query(_readable(name, query))
        self._catalog.hold(f"query {name}", query.depends_on)

    def name_of(self, name: str) -> str:
        """The name of a query as it was given, whatever its case here."""
        if name.casefold() not in self._names:
            raise unknown_query(name, self._defined)
        return self._names[name.casefold()]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all queries, as they were given."""
        return tuple(self._defined)

    def find(self, name: str) -> Query:
        """The query of a name."""
        return self._defined[self.name_of(name)]

    def has(self, name: str) -> bool:
        """Whether there is a query of that name."""
        return name.casefold() in self._names

    def refuse_used(self, name: str, doing: str) -> None:
        """Refuse to change or drop a query that others read."""
        found = self._catalog.readable(self.name_of(name))
        assert found is not None
        self._catalog.refuse_used(found, doing)

    def refuse_itself(self, name: str, query: Query) -> None:
        """Refuse another definition that reads the query which it is for."""
        found = self._catalog.readable(self.name_of(name))
        assert found is not None
        refuse_itself(found, query.depends_on)

    def drop(self, name: str) -> None:
        """Forget a query; if it runs, it is stopped first."""
        known, graph = self.name_of(name), self._graph()
        self._catalog.forget_query(known)
        if graph is not None:
            graph.forget(known)
        del self._defined[known], self._names[name.casefold()]
        self._catalog.release(f"query {known}")

    def hold_what_runs(self) -> None:
        """Keep what queries read that were started without a definition."""
        graph = self._graph()
        for name, run in {} if graph is None else dict(graph.queries).items():
            if name not in self._defined:
                self._catalog.hold(f"query {name}", run.depends_on if run.is_active else ())

    def listing(self) -> tuple[Listed, ...]:
        """Everything that has a name: sources, derived streams, and queries."""
        return (*self._entries(), *self._queries())

    def _entries(self) -> Iterator[Listed]:
        users = self._users()
        for name in self._catalog.names:
            entry = self._catalog.lookup(name)
            used_by = tuple(sorted(users.get(name.casefold(), ())))
            if isinstance(entry, Derived):
                kind = "view" if entry.word == "view" else f"derived {entry.word}"
                yield Listed(name, kind, "", tuple(sorted(entry.depends_on)), used_by)
            else:
                word = "stream" if entry.kind.value == "stream" else "relation"
                yield Listed(name, word, "", (), used_by)

    def _users(self) -> dict[str, set[str]]:
        """By name, what depends on it directly."""
        users: dict[str, set[str]] = {}
        for name in self._catalog.names:
            entry = self._catalog.lookup(name)
            for used in entry.depends_on if isinstance(entry, Derived) else ():
                users.setdefault(used.casefold(), set()).add(name)
        for listed in self._plain_queries():
            for used in listed.depends_on:
                users.setdefault(used.casefold(), set()).add(listed.name)
        return users

    def _queries(self) -> Iterator[Listed]:
        users = self._users()
        for listed in self._plain_queries():
            yield replace(listed, used_by=tuple(sorted(users.get(listed.name.casefold(), ()))))

    def _plain_queries(self) -> Iterator[Listed]:
        graph = self._graph()
        started = {} if graph is None else dict(graph.queries)
        for name, query in self._defined.items():
            run = started.pop(name, None)
            state = "stopped" if run is None else run.state
            error = "" if run is None or run.exception() is None else str(run.exception())
            yield Listed(name, "query", state, tuple(sorted(query.depends_on)), (), error)
        for name, run in started.items():
            error = "" if run.exception() is None else str(run.exception())
            yield Listed(name, "query", run.state, run.depends_on, (), error)
