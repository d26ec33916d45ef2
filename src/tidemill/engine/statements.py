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
from tidemill.engine.apart import defined, sink_of
from tidemill.engine.kept import KeptStore
from tidemill.engine.place import Place
from tidemill.engine.planning import Planning
from tidemill.engine.query import Query
from tidemill.errors import CatalogError
from tidemill.feeds import Inbox
from tidemill.results import SinkRequest
from tidemill.sql import (
    AlterQuery,
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

    def execute(self, statement: Statement, planned: Query | None = None) -> Query | None:
        """Run one statement; its query, if it is one. It may be `planned` already, elsewhere."""
        if self._engine.allow is not None:
            self._engine.allow.check(statement)
        match statement:
            case QueryStatement():
                return self._defined(statement, statement.tree, SinkRequest(), planned)
            case CreateStream() | CreateRelation():
                self._declare(source_from_statement(statement))
            case CreateDerived():
                self._derive(statement, planned)
            case DropObject():
                self._drop(statement)
            case CreateQuery():
                self._engine.queries.define(statement.name, self._named(statement, planned))
            case StartQuery():
                self._start_named(statement, planned)
            case StopQuery():
                self._engine.graph.query(statement.name).stop()
            case AlterQuery():
                self._alter(statement, planned)
            case InsertInto():
                sink = sink_of(statement.sink)
                return self._defined(statement, statement.query, sink, planned)
            case InsertValues() | DeleteFrom():
                self._change(statement)
        return None

    def _declare(self, info: SourceInfo) -> None:
        """Make a source known. Rows are pushed into a stream that comes from nowhere."""
        self._catalog.add_source(info)
        if info.kind is SourceKind.STREAM and info.format is None:
            self._place.sources.put(info, Inbox(info.name, info.declared))

    def _named(self, statement: CreateQuery, planned: Query | None) -> Query:
        """The query of a definition; without a sink, its results are kept."""
        sink = SinkRequest("memory") if statement.sink is None else sink_of(statement.sink)
        query = self._defined(statement, statement.query, sink, planned)
        return query if statement.sink is not None else self._keeping(statement.name, query)

    def _keeping(self, name: str, query: Query) -> Query:
        if self._keep is None:
            return query
        sink = self._keep.sink(name, query)
        return query.into(sink.target, form=sink.form)

    def _defined(
        self, statement: Statement, tree: exp.Expr, sink: SinkRequest, planned: Query | None
    ) -> Query:
        """The query that a statement defines; with the plan that it has, if it has one."""
        if planned is None:
            return defined(self._engine, self._planning, statement, tree, sink, self._engine)
        query = self._planning.adopted(planned, statement, self._engine)
        if isinstance(tree, PlanText):
            query.definition = tree.sql(dialect=Tidemill)
        return query.into(sink.target, form=sink.form, **sink.options)

    def _start_named(self, statement: StartQuery, planned: Query | None) -> None:
        name = self._engine.queries.name_of(statement.name)
        query = self._engine.queries.find(name)
        if planned is not None and planned.planned is query.planned:
            query.take_plans(planned)
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

    def _alter(self, statement: AlterQuery, planned: Query | None) -> None:
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
        query = self._defined(statement, statement.query, present.sink, planned)
        if active:
            self._engine.graph.migrate(name, query)
        self._engine.queries.redefine(statement.name, query)

    def _change(self, statement: InsertValues | DeleteFrom) -> None:
        """Change a relation as a statement says; if anything is wrong with it, nothing changes."""
        info = self._place.source(statement.name)
        kept = self._place.sources.kept(info)
        at = instant_of(statement.at, self._catalog)
        if isinstance(statement, InsertValues):
            kept.insert(inserted_rows(statement, info, self._catalog), at)
        else:
            kept.delete(statement.where, statement.source.text, self._catalog, at)

    def _derive(self, statement: CreateDerived, query: Query | None) -> None:
        text = statement.source.text
        planned = self._planning.plan(statement.query, text) if query is None else query.planned
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
