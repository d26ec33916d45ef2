"""Queries planned beside an engine: with what it knows now, while others use and change it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from sqlglot import exp

from tidemill.algebra import Plan
from tidemill.catalog import Catalog
from tidemill.connectors.sinks import SinkRequest
from tidemill.engine.hosting import QueryHost
from tidemill.engine.planning import Planning
from tidemill.engine.query import Query
from tidemill.physical.operator import Exec
from tidemill.sql import (
    AlterQuery,
    ConnectorCall,
    CreateDerived,
    CreateQuery,
    ExplainQuery,
    InsertInto,
    PlanText,
    QueryStatement,
    StartQuery,
    Statement,
    Tidemill,
    parse_one,
)
from tidemill.timeline import TimeDomain


class QueryNames(Protocol):
    """Queries by name."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def find(self, name: str) -> Query: ...


class Desk(Protocol):
    """Where plans are made: an engine, or what it knew at some moment."""

    @property
    def catalog(self) -> Catalog: ...

    @property
    def queries(self) -> QueryNames: ...

    def planned(self, text: str) -> Query:
        """The query of a text that is one."""

    def compose(self, plan: Exec, meaning: Plan, domain: TimeDomain | None, text: str) -> Query: ...

    def read_plan(self, text: str) -> Query:
        """The query of a plan in a statement."""


class Apart:
    """What an engine knows now; queries that are planned with it can be carried out there."""

    def __init__(
        self, host: QueryHost, planning: Planning, plans: Callable[[Desk, str], Query]
    ) -> None:
        self._host = host
        self._plans = plans
        self._planning = planning.apart()
        self.catalog = self._planning.catalog
        self.queries = _Names({name: host.queries.find(name) for name in host.queries.names})

    def is_still_right(self, query: Query) -> bool:
        """Whether the engine knows the same streams, relations and functions as then, and the
        same definitions of the queries that a query reads."""
        return self.catalog.is_like(self._host.catalog, query.depends_on)

    def query(self, statement: Statement) -> Query | None:
        """The query of a statement, or the one that it starts; None if it has none."""
        if self._host.allow is not None:
            self._host.allow.check(statement)
        if isinstance(statement, StartQuery):
            return self._planning.again(self._host.queries.find(statement.name))
        tree = query_tree(statement)
        if tree is None:
            return None
        sink = sink_of(statement.sink) if isinstance(statement, InsertInto) else SinkRequest()
        return defined(self.read_plan, self._planning, statement, tree, sink, self._host)

    def planned(self, text: str) -> Query:
        """The query of a text, which holds nothing else."""
        query = self.query(parse_one(text))
        assert query is not None
        return query

    def compose(self, plan: Exec, meaning: Plan, domain: TimeDomain | None, text: str) -> Query:
        """See `Engine.compose`."""
        return self._planning.composed(plan, meaning, domain, text, self._host)

    def read_plan(self, text: str) -> Query:
        """See `Engine.read_plan`."""
        return self._plans(self, text)


def defined(
    read_plan: Callable[[str], Query],
    planning: Planning,
    statement: Statement,
    tree: exp.Expr,
    sink: SinkRequest,
    host: QueryHost,
) -> Query:
    """The query that a statement defines, by SQL or by a plan."""
    if not isinstance(tree, PlanText):
        return planning.query(statement, tree, sink, host)
    query = read_plan(tree.name).into(sink.target, form=sink.form, **sink.options)
    query.definition = tree.sql(dialect=Tidemill)
    return query


def query_tree(statement: Statement) -> exp.Expr | None:
    """The query of a statement, or the text of its plan, if it has one."""
    match statement:
        case QueryStatement():
            return statement.tree
        case CreateQuery() | CreateDerived() | InsertInto() | AlterQuery() | ExplainQuery():
            return statement.query
    return None


def sink_of(sink: ConnectorCall | None) -> SinkRequest:
    """Where results go, as a statement says; by default nowhere."""
    if sink is None:
        return SinkRequest()
    options = {name: value for name, value in sink.options.items() if value is not None}
    form = str(options.pop("form", ""))
    return SinkRequest(sink.format, options, form)


class _Names:
    def __init__(self, queries: Mapping[str, Query]) -> None:
        self._queries = queries

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._queries)

    def find(self, name: str) -> Query:
        return self._queries[name]
