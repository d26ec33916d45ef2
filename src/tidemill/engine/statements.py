"""What every statement does."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from tidemill.algebra import SourceKind
from tidemill.analyze import (
    SourceInfo,
    derived_from_statement,
    inserted_rows,
    instant_of,
    source_from_statement,
)
from tidemill.engine.hosting import QueryHost
from tidemill.engine.kept import KeptStore
from tidemill.engine.place import Place
from tidemill.engine.planning import Planning
from tidemill.engine.query import Query
from tidemill.errors import CatalogError, UnsupportedError
from tidemill.feeds import Inbox
from tidemill.results import SinkRequest
from tidemill.sql import (
    AlterQuery,
    ConnectorCall,
    CreateDerived,
    CreateQuery,
    CreateRelation,
    CreateStream,
    DeleteFrom,
    DropObject,
    InsertInto,
    InsertValues,
    PlanText,
    QueryStatement,
    StartQuery,
    Statement,
    StopQuery,
    Tidemill,
)


class Statements:
    """Carries statements out, over what is declared and what runs; `plans` reads plans in them."""

    def __init__(
        self,
        host: QueryHost,
        planning: Planning,
        place: Place,
        keep: KeptStore | None,
        plans: Callable[[str], Query] | None,
    ) -> None:
        self._host = host
        self._catalog = host.catalog
        self._planning = planning
        self._place = place
        self._keep = keep
        self._plans = plans

    def execute(self, statement: Statement) -> Query | None:
        """Run one statement; its query, if it is one."""
        if self._host.allow is not None:
            self._host.allow.check(statement)
        match statement:
            case QueryStatement():
                return self._planning.query(statement, statement.tree, SinkRequest(), self._host)
            case CreateStream() | CreateRelation():
                self._declare(source_from_statement(statement))
            case CreateDerived():
                self._derive(statement)
            case DropObject():
                self._drop(statement)
            case CreateQuery():
                query = self._defined(statement, statement.query, sink_of(statement.sink))
                self.define(statement.name, query, keeps=statement.sink is None)
            case StartQuery():
                self._start_named(statement)
            case StopQuery():
                self._host.graph.query(statement.name).stop()
            case AlterQuery():
                self._alter(statement)
            case InsertInto():
                return self._insert(statement)
            case InsertValues() | DeleteFrom():
                self._change(statement)
        return None

    def _declare(self, info: SourceInfo) -> None:
        """Make a source known. Rows are pushed into a stream that comes from nowhere."""
        self._catalog.add_source(info)
        if info.kind is SourceKind.STREAM and info.format is None:
            self._place.sources.put(info, Inbox(info.name, info.declared))

    def define(self, name: str, query: Query, keeps: bool = True) -> None:
        """Give a query a name; unless it has a sink of its own, its results are kept."""
        if keeps:
            keep = self._keep
            sink = SinkRequest("memory") if keep is None else keep.sink(name, query)
            query = query.into(sink.target, form=sink.form)
        self._host.queries.define(name, query)

    def _defined(self, statement: Statement, tree: exp.Expr, sink: SinkRequest) -> Query:
        """The query that a statement defines, by SQL or by a plan."""
        if not isinstance(tree, PlanText):
            return self._planning.query(statement, tree, sink, self._host)
        if self._plans is None:
            help = "from tidemill.compose import read_plan; Engine(plans=read_plan)"
            raise UnsupportedError("nobody reads plans for this engine", help=help)
        query = self._plans(tree.name).into(sink.target, form=sink.form, **sink.options)
        query.definition = tree.sql(dialect=Tidemill)
        return query

    def _start_named(self, statement: StartQuery) -> None:
        name = self._host.queries.name_of(statement.name)
        query = self._host.queries.find(name)
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

    def _alter(self, statement: AlterQuery) -> None:
        """Give a query another definition, or a better plan; if it runs, without a gap."""
        name = self._host.queries.name_of(statement.name)
        present = self._host.queries.find(name)
        started = self._host.graph.queries.get(name) if self._host.is_running else None
        active = started is not None and started.is_active
        if statement.query is None:
            if not active:
                help = f"START QUERY {statement.name}: it is planned then"
                raise CatalogError(f"the query `{statement.name}` is not running", help=help)
            self._host.graph.query(name).optimize()
            return
        query = self._defined(statement, statement.query, present.sink)
        if active:
            self._host.graph.migrate(name, query)
        self._host.queries.redefine(statement.name, query)

    def _insert(self, statement: InsertInto) -> Query:
        """A query that knows where its results go; `start` sends them there."""
        return self._planning.query(statement, statement.query, sink_of(statement.sink), self._host)

    def _change(self, statement: InsertValues | DeleteFrom) -> None:
        """Change a relation as a statement says; if anything is wrong with it, nothing changes."""
        info = self._place.source(statement.name)
        kept = self._place.sources.kept(info)
        at = instant_of(statement.at, self._catalog)
        if isinstance(statement, InsertValues):
            kept.insert(inserted_rows(statement, info, self._catalog), at)
        else:
            kept.delete(statement.where, statement.source.text, self._catalog, at)

    def _derive(self, statement: CreateDerived) -> None:
        planned = self._planning.plan(statement.query, statement.source.text)
        self._catalog.add_derived(derived_from_statement(statement, planned))

    def _drop(self, statement: DropObject) -> None:
        if statement.kind == "QUERY":
            self._host.queries.drop(statement.name, statement.if_exists)
            if self._keep is not None:
                self._keep.forget(statement.name)
            return
        self._host.hold_what_runs()
        entry = self._catalog.find(statement.name)
        if entry is None and statement.if_exists:
            return
        self._catalog.drop(statement.name)
        if self._host.is_running:
            self._host.graph.forget_source(statement.name)
        self._place.sources.forget(statement.name)
        self._host.statistics.forget(statement.name)


def query_tree(statement: Statement) -> exp.Expr | None:
    """The query of a statement, if it has one in SQL."""
    match statement:
        case QueryStatement():
            return statement.tree
        case CreateQuery() | CreateDerived() | InsertInto() | AlterQuery():
            return None if isinstance(statement.query, PlanText) else statement.query
    return None


def sink_of(sink: ConnectorCall | None) -> SinkRequest:
    """Where results go, as a statement says; by default nowhere."""
    if sink is None:
        return SinkRequest()
    options = {name: value for name, value in sink.options.items() if value is not None}
    form = str(options.pop("form", ""))
    return SinkRequest(sink.format, options, form)
