"""What every statement does."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from tidemill.algebra import SourceKind
from tidemill.analyze import (
    derived_from_statement,
    inserted_rows,
    instant_of,
    source_from_statement,
)
from tidemill.catalog import Derived, SourceInfo
from tidemill.catalog.catalog import kind_of
from tidemill.connectors.feeds import Inbox
from tidemill.connectors.sinks import SinkRequest
from tidemill.engine.apart import defined, sink_of
from tidemill.engine.environment import Environment
from tidemill.engine.hosting import QueryHost
from tidemill.engine.kept import KeptStore
from tidemill.engine.named import name_is_taken
from tidemill.engine.planning import Planning
from tidemill.engine.query import Query
from tidemill.engine.reports import Report
from tidemill.engine.telling import Teller
from tidemill.errors import CatalogError
from tidemill.sql import (
    AlterQuery,
    CreateDerived,
    CreateQuery,
    CreateRelation,
    CreateStream,
    DeleteFrom,
    DescribeName,
    DropObject,
    ExplainQuery,
    InsertInto,
    InsertValues,
    PlanText,
    QueryStatement,
    ShowObjects,
    StartQuery,
    Statement,
    StopQuery,
    Tidemill,
)
from tidemill.sql.building import alter_query, drop, query_of


class Statements:
    """Carries statements out, over what is declared and what runs; `plans` reads plans in them."""

    def __init__(
        self,
        host: QueryHost,
        planning: Planning,
        environment: Environment,
        keep: KeptStore | None,
        plans: Callable[[str], Query],
    ) -> None:
        self._host = host
        self._catalog = host.catalog
        self._planning = planning
        self._environment = environment
        self._keep = keep
        self._plans = plans
        self._teller = Teller(host, planning)

    def resolved(self, statement: Statement) -> Statement | None:
        """What is to be done, as things stand: IF [NOT] EXISTS may leave nothing to do, and a
        query that is replaced is altered."""
        name = str(getattr(statement, "name", ""))
        if statement.if_not_exists and self._exists(name):
            return None
        if statement.if_exists:
            of_query = not isinstance(statement, DropObject) or statement.kind == "QUERY"
            known = self._host.queries.has(name) if of_query else self._catalog.find(name)
            return statement if known else None
        if isinstance(statement, CreateQuery) and statement.or_replace:
            return self._replacing(statement)
        return statement

    def _exists(self, name: str) -> bool:
        return self._host.queries.has(name) or self._catalog.find(name) is not None

    def _replacing(self, statement: CreateQuery) -> Statement:
        if not self._host.queries.has(statement.name):
            return statement
        if statement.sink is not None:
            help = f"DROP QUERY {statement.name} first, or leave out INSERT INTO"
            raise CatalogError(f"the sink of `{statement.name}` cannot be replaced", help=help)
        return alter_query(statement.name, query_of(statement))

    def execute(self, statement: Statement, planned: Query | None = None) -> Query | Report | None:
        """Run one statement; its query, if it is one. It may be `planned` already, elsewhere."""
        if self._host.allow is not None:
            self._host.allow.check(statement)
        found = self.resolved(statement)
        return None if found is None else self._execute(found, planned)

    def _execute(self, statement: Statement, planned: Query | None) -> Query | Report | None:
        match statement:
            case ShowObjects() | DescribeName() | ExplainQuery():
                return self._teller.tell(statement, planned)
            case QueryStatement():
                return self._defined(statement, statement.tree, SinkRequest(), planned)
            case CreateStream() | CreateRelation():
                self._declare(source_from_statement(statement), statement)
            case CreateDerived():
                self._derive(statement, planned)
            case DropObject():
                self._drop(statement)
            case CreateQuery():
                sink = sink_of(statement.sink)
                query = self._defined(statement, statement.query, sink, planned)
                self.define(statement.name, query, keeps=statement.sink is None)
            case StartQuery():
                self._start_named(statement, planned)
            case StopQuery():
                self._host.graph.query(statement.name).stop()
            case AlterQuery():
                self._alter(statement, planned)
            case InsertInto():
                sink = sink_of(statement.sink)
                return self._defined(statement, statement.query, sink, planned)
            case InsertValues() | DeleteFrom():
                self._change(statement)
        return None

    def _declare(self, info: SourceInfo, statement: CreateStream | CreateRelation) -> None:
        """Make a source known. Rows are pushed into a stream that comes from nowhere."""
        if statement.or_replace and self._catalog.find(info.name) is not None:
            self._drop(drop(str(statement.tree.text("kind")), info.name))
        self._catalog.add_source(info)
        if info.kind is SourceKind.STREAM and info.format is None:
            self._environment.sources.put(info, Inbox(info.name, info.declared))

    def define(self, name: str, query: Query, keeps: bool = True) -> None:
        """Give a query a name; unless it has a sink of its own, its results are kept."""
        if keeps:
            keep = self._keep
            sink = SinkRequest("memory") if keep is None else keep.sink(name, query)
            query = query.into(sink.target, form=sink.form)
        self._host.queries.define(name, query)

    def _defined(
        self, statement: Statement, tree: exp.Expr, sink: SinkRequest, planned: Query | None
    ) -> Query:
        """The query that a statement defines; with the plan that it has, if it has one."""
        if planned is None:
            return defined(self._plans, self._planning, statement, tree, sink, self._host)
        query = self._planning.adopted(planned, statement, self._host)
        if isinstance(tree, PlanText):
            query.definition = tree.sql(dialect=Tidemill)
        return query.into(sink.target, form=sink.form, **sink.options)

    def _start_named(self, statement: StartQuery, planned: Query | None) -> None:
        name = self._host.queries.name_of(statement.name)
        query = self._host.queries.find(name)
        if planned is not None and planned.planned is query.planned:
            query.take_plans(planned)
        if self._host.allow is not None:
            self._host.allow.refuse_leading_out(query.sink.options.get("path"))
        graph = self._host.graph if self._host.is_running else self._host.run()
        with graph.lock:
            goes_on = name in graph.running  # since the checkpoint knows it
            graph.start(query, name, statement.partial)
            if self._keep is not None and goes_on:
                self._keep.go_on(name, graph)
            elif self._keep is not None:
                self._keep.begin(name)

    def _alter(self, statement: AlterQuery, planned: Query | None) -> None:
        """Give a query another definition, or a better plan; if it runs, without a gap."""
        name = self._host.queries.name_of(statement.name)
        present = self._host.queries.find(name)
        started = self._host.graph.queries.get(name) if self._host.is_running else None
        active = started is not None and started.is_active
        if statement.query is not None:
            self._host.queries.refuse_used(name, "change")
        if statement.query is None:
            if not active:
                help = f"START QUERY {statement.name}: it is planned then"
                raise CatalogError(f"the query `{statement.name}` is not running", help=help)
            self._host.graph.query(name).optimize()
            return
        query = self._defined(statement, statement.query, present.sink, planned)
        self._host.queries.refuse_itself(name, query)
        if active:
            self._host.graph.migrate(name, query)
        self._host.queries.redefine(statement.name, query)
        if active and self._keep is not None:  # or what is kept stays that of the old definition
            self._keep.redefine(name, query)

    def _change(self, statement: InsertValues | DeleteFrom) -> None:
        """Change a relation as a statement says; if anything is wrong with it, nothing changes."""
        info = self._environment.source(statement.name)
        kept = self._environment.sources.kept(info)
        at = instant_of(statement.at, self._catalog)
        if isinstance(statement, InsertValues):
            kept.insert(inserted_rows(statement, info, self._catalog), at)
        else:
            kept.delete(statement.where, statement.source.text, self._catalog, at)

    def _derive(self, statement: CreateDerived, query: Query | None) -> None:
        text = statement.source.text
        planned = query.planned if query else self._planning.plan(statement.query, text, False)
        derived = derived_from_statement(statement, planned)
        self._refuse_taken(statement.name)
        if statement.or_replace:
            self._host.hold_what_runs()
            self._refuse_other_kind(statement.kind, statement.name)
        self._catalog.add(derived, statement.or_replace)

    def _refuse_taken(self, name: str) -> None:
        if self._host.queries.has(name):
            raise name_is_taken(name)

    def _refuse_other_kind(self, kind: str, name: str) -> None:
        """Views are dropped and replaced as such; streams and relations go by either word."""
        entry = self._catalog.find(name)
        is_view = isinstance(entry, Derived) and entry.word == "view"
        if entry is not None and (kind == "VIEW") is not is_view:
            known = kind_of(entry)
            help = f"write {known.upper()} instead of {kind}"
            raise CatalogError(f"`{entry.name}` is a {known}, not a {kind.lower()}", help=help)

    def _drop(self, statement: DropObject) -> None:
        if statement.kind == "QUERY":
            self._host.queries.drop(statement.name)
            if self._keep is not None:
                self._keep.forget(statement.name)
            return
        self._host.hold_what_runs()
        self._refuse_other_kind(statement.kind, statement.name)
        self._catalog.drop(statement.name)
        if self._host.is_running:
            self._host.graph.forget_source(statement.name)
        self._environment.sources.forget(statement.name)
        self._host.statistics.forget(statement.name)
