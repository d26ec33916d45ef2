"""What every statement does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from tidemill.algebra import SourceKind
from tidemill.analyze import (
    SourceInfo,
    derived_from_statement,
    inserted_rows,
    instant_of,
    source_from_statement,
)
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

if TYPE_CHECKING:
    from tidemill.engine.engine import Engine


class Statements:
    """Carries statements out for an engine."""

    def __init__(
        self,
        engine: Engine,
        planning: Planning,
        place: Place,
        keep: KeptStore | None,
    ) -> None:
        self._engine = engine
        self._catalog = engine.catalog
        self._planning = planning
        self._place = place
        self._keep = keep

    def execute(self, statement: Statement) -> Query | None:
        """Run one statement; its query, if it is one."""
        if self._engine.allow is not None:
            self._engine.allow.check(statement)
        match statement:
            case QueryStatement():
                return self._planning.query(statement, statement.tree, SinkRequest(), self._engine)
            case CreateStream() | CreateRelation():
                self._declare(source_from_statement(statement))
            case CreateDerived():
                self._derive(statement)
            case DropObject():
                self._drop(statement)
            case CreateQuery():
                self._engine.queries.define(statement.name, self._named(statement))
            case StartQuery():
                self._start_named(statement)
            case StopQuery():
                self._engine.graph.query(statement.name).stop()
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

    def _named(self, statement: CreateQuery) -> Query:
        """The query of a definition; without a sink, its results are kept."""
        sink = SinkRequest("memory") if statement.sink is None else sink_of(statement.sink)
        query = self._defined(statement, statement.query, sink)
        return query if statement.sink is not None else self._keeping(statement.name, query)

    def _keeping(self, name: str, query: Query) -> Query:
        if self._keep is None:
            return query
        sink = self._keep.sink(name, query)
        return query.into(sink.target, form=sink.form)

    def _defined(self, statement: Statement, tree: exp.Expr, sink: SinkRequest) -> Query:
        """The query that a statement defines, by SQL or by a plan."""
        if not isinstance(tree, PlanText):
            return self._planning.query(statement, tree, sink, self._engine)
        if self._engine.plans is None:
            help = "from tidemill.compose import read_plan; engine.plans = read_plan"
            raise UnsupportedError("this engine cannot read composed plans", help=help)
        query = self._engine.plans(self._engine, tree.name).into(
            sink.target, form=sink.form, **sink.options
        )
        query.definition = tree.sql(dialect=Tidemill)
        return query

    def _start_named(self, statement: StartQuery) -> None:
        name = self._engine.queries.name_of(statement.name)
        query = self._engine.queries.find(name)
        if self._engine.allow is not None:
            self._engine.allow.refuse_leading_out(query.sink.options.get("path"))
        graph = self._engine.graph if self._engine.is_running else self._engine.run()
        with graph.graph.lock:
            goes_on = graph.graph.is_running(name)  # since the checkpoint knows it
            graph.start(query, name, statement.partial)
            if self._keep is not None and goes_on:
                self._keep.go_on(name, graph.graph)
            elif self._keep is not None:
                self._keep.begin(name)

    def _alter(self, statement: AlterQuery) -> None:
        """Give a query another definition, or a better plan; if it runs, without a gap."""
        name = self._engine.queries.name_of(statement.name)
        present = self._engine.queries.find(name)
        started = self._engine.graph.queries.get(name) if self._engine.is_running else None
        active = started is not None and started.is_active
        if statement.query is None:
            if not active:
                help = f"START QUERY {statement.name}: it is planned then"
                raise CatalogError(f"the query `{statement.name}` is not running", help=help)
            self._engine.graph.query(name).optimize()
            return
        query = self._defined(statement, statement.query, present.sink)
        if active:
            self._engine.graph.migrate(name, query)
        self._engine.queries.redefine(statement.name, query)

    def _insert(self, statement: InsertInto) -> Query:
        """A query that knows where its results go; `start` sends them there."""
        return self._planning.query(
            statement, statement.query, sink_of(statement.sink), self._engine
        )

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
            self._engine.queries.drop(statement.name, statement.if_exists)
            if self._keep is not None:
                self._keep.forget(statement.name)
            return
        self._engine.hold_what_runs()
        entry = self._catalog.find(statement.name)
        if entry is None and statement.if_exists:
            return
        self._catalog.drop(statement.name)
        if self._engine.is_running:
            self._engine.graph.graph.run.forget(statement.name)
        self._place.sources.forget(statement.name)
        self._engine.statistics.forget(statement.name)


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
