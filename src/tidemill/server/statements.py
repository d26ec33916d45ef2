"""Scripts that clients send: their statements are run one by one, and kept if need be."""

from __future__ import annotations

from contextlib import suppress

from tidemill.engine import Query, Report
from tidemill.errors import CatalogError, PlanError, ResourceError, TidemillError, masked
from tidemill.server.keeping import execute, execute_together
from tidemill.server.planning import PlannedApart, planned_apart, planning
from tidemill.server.problems import Conflict, Refused, TooMany
from tidemill.server.reading import NOTHING, read, refuse_large
from tidemill.server.service import Service
from tidemill.show.problems import problem
from tidemill.show.statements import kind_of
from tidemill.show.tables import columns_of, domain_of
from tidemill.sql import (
    AlterQuery,
    CreateDerived,
    CreateQuery,
    Creation,
    ExplainQuery,
    InsertInto,
    QueryStatement,
    StartQuery,
    Statement,
    Telling,
    error_at,
)
from tidemill.sql.building import create_query, start_query
from tidemill.wire.parameters import Given
from tidemill.wire.queries import QueryEntry
from tidemill.wire.statements import PlannedQuery, ReportTable, ScriptResult, StatementResult

_LONGEST_NAME = 200
_TRIES = 3
_PLANNED = (CreateQuery, CreateDerived, InsertInto, AlterQuery, StartQuery)
_TOLD_LATER = (PlanError, CatalogError)
"""What is wrong with a statement is reported when it is run."""


class ScriptError(TidemillError):
    """A statement of a script went wrong, after `done` others."""

    def __init__(self, error: TidemillError, done: int) -> None:
        super().__init__(**error.fields())
        self.error = error
        self.done = done


class Scripts:
    """Runs what clients send."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def run(self, sql: str, given: Given = NOTHING) -> ScriptResult:
        """Run a script; what each of its statements did."""
        results: list[StatementResult] = []
        try:
            for statement in read(sql, self._service.settings.limits, given):
                results.append(self._run(statement))
        except TidemillError as error:
            raise ScriptError(error, len(results)) from error
        finally:
            self._service.changed()
        return ScriptResult(results=results)

    def begin(self, create: CreateQuery, *start: StartQuery, planned: PlannedApart) -> QueryEntry:
        """Run statements that make and start a query, as one step: all of them, or none."""
        limits = self._service.settings.limits
        try:
            _refuse_odd_names(create)
            refuse_large(create, limits)
            with self._service.lock, planning(limits):
                self._refuse_taken(create.name)
                self._refuse_queries(create)
                self._executed(create, *start, planned=planned)
                return self._service.query(create.name)
        finally:
            self._service.changed()

    def perform(self, statement: Statement, planned: PlannedApart | None = None) -> None:
        """Run one statement, whose query may have been planned."""
        try:
            self._run(statement, planned)
        finally:
            self._service.changed()

    def _refuse_taken(self, name: str) -> None:
        wanted = name.casefold()
        if any(each.name.casefold() == wanted for each in self._service.engine.listing()):
            help = "choose another name, or drop it first"
            raise Conflict(f"`{name}` already exists", help=help)

    def _planned(self, statement: Statement) -> PlannedApart | None:
        """Everyone waits while a statement is run: its query is planned before.

        If streams and functions change while that goes on, again and again, it is planned then.
        """
        if not isinstance(statement, _PLANNED):
            return None
        with suppress(*_TOLD_LATER):
            for _ in range(_TRIES):
                found = planned_apart(self._service, statement)
                if found is None or found.if_right is not None:
                    return found
        return None

    def _refuse_queries(self, statement: Statement) -> None:
        if isinstance(statement, CreateQuery | InsertInto):
            self._refuse_more_queries()
            _refuse_own_sinks(statement)

    def _run(self, statement: Statement, planned: PlannedApart | None = None) -> StatementResult:
        _refuse_odd_names(statement)
        if isinstance(statement, Telling):
            return self._told(statement)
        if isinstance(statement, QueryStatement):
            found = planned_apart(self._service, statement)
            return self._result(statement, None if found is None else found.query)
        with self._service.lock:
            wanted = self._service.engine.resolved(statement)
        if wanted is None:
            return _nothing_done(statement)
        statement = wanted
        planned = planned or self._planned(statement)
        with self._service.lock, planning(self._service.settings.limits):
            self._refuse_queries(statement)
            if isinstance(statement, InsertInto):
                return self._started(statement, planned)
            return self._result(statement, self._executed(statement, planned=planned))

    def _told(self, statement: Telling) -> StatementResult:
        """The answer to SHOW, DESCRIBE or EXPLAIN."""
        if isinstance(statement, ExplainQuery) and statement.analyze and statement.name is None:
            help = "give it a name, start it, and EXPLAIN ANALYZE the name"
            raise Refused("EXPLAIN ANALYZE is for queries that run here", help=help)
        found = planned_apart(self._service, statement)
        with self._service.lock, planning(self._service.settings.limits):
            query = None if found is None else found.query
            report = self._service.engine.execute(statement, query)
        assert isinstance(report, Report)
        rows = [list(row.values()) for row in report.to_pylist()]
        table = ReportTable(columns=report.table.column_names, rows=rows)
        kind, name = kind_of(statement), statement.name
        return StatementResult(kind=kind, name=name, message="", table=table)

    def _executed(
        self, *statements: Statement, planned: PlannedApart | None = None
    ) -> Query | Report | None:
        engine, log, statement = self._service.engine, self._service.log, statements[0]
        query = None if planned is None else planned.if_right
        try:
            if len(statements) > 1:
                return execute_together(engine, log, statements, query)
            return execute(engine, log, statement, query)
        except ResourceError as error:
            name, tick = getattr(statement, "name", None), self._service.graph.ticks
            self._service.events.add("refuse", name, error.message, tick)
            raise

    def _refuse_more_queries(self) -> None:
        most = self._service.settings.limits.queries
        if sum(each.kind == "query" for each in self._service.engine.listing()) >= most:
            raise TooMany(f"there are {most} queries already", help="drop some: DROP QUERY name")

    def _started(self, statement: InsertInto, planned: PlannedApart | None) -> StatementResult:
        """A query with a sink and without a name gets one, and runs."""
        taken = {each.name.casefold() for each in self._service.engine.listing()}
        name = next(f"q{n}" for n in range(1, len(taken) + 2) if f"q{n}" not in taken)
        created = create_query(name, statement)
        self._executed(created, start_query(name), planned=planned)
        found = self._result(created, self._service.engine.queries.find(name))
        change = {"kind": kind_of(statement), "message": f"{name} is running"}
        return found.model_copy(update=change)

    def _result(self, statement: Statement, query: Query | Report | None) -> StatementResult:
        kind, name = kind_of(statement), getattr(statement, "name", None)
        if query is None and isinstance(statement, CreateQuery):
            query = self._service.engine.queries.find(statement.name)
        text = masked(statement.query_sql)
        planned = planned_of(query, text) if isinstance(query, Query) else None
        return StatementResult(kind=kind, name=name, message=_message(kind, name), query=planned)


def _nothing_done(statement: Statement) -> StatementResult:
    name = str(getattr(statement, "name", ""))
    there = "already exists" if statement.if_not_exists else "does not exist"
    message = f"{name} {there}: nothing was done"
    return StatementResult(kind=kind_of(statement), name=name, message=message)


def _refuse_odd_names(statement: Statement) -> None:
    """Names are parts of addresses here."""
    name = statement.name if isinstance(statement, Creation) else ""
    if "/" in name or name in (".", "..") or len(name) > _LONGEST_NAME:
        help = f"use at most {_LONGEST_NAME} characters, and no slash"
        raise Refused(f"`{name[:_LONGEST_NAME]}` is not a valid name on a server", help=help)


def _refuse_own_sinks(statement: CreateQuery | InsertInto) -> None:
    """The terminal of a server is not for its clients, and its memory has bounds."""
    if statement.sink is not None and statement.sink.format.lower() in ("console", "memory"):
        help = "leave out INSERT INTO: results of queries with a name are kept"
        message = f"results cannot go to {statement.sink.format} here"
        raise error_at(CatalogError, message, statement.sink.tree, help)


def planned_of(query: Query, sql: str) -> PlannedQuery:
    """A query that was planned: its columns, its time, and what to know about it."""
    return PlannedQuery(
        columns=columns_of(query.schema),
        domain=domain_of(query.planned.domain),
        sql=sql,
        warnings=[problem(warning) for warning in query.warnings],
    )


_DONE = {
    "create": "created",
    "drop": "dropped",
    "start": "started",
    "stop": "stopped",
    "alter": "changed",
    "insert": "inserted",
    "delete": "deleted",
}


def _message(kind: str, name: str | None) -> str:
    """What was done, in words.

    >>> _message("create_stream", "bid")
    'stream bid created'
    """
    verb, _, what = kind.partition("_")
    if verb == "select":
        return "planned: give it a name to let it run (CREATE QUERY name AS ...)"
    noun = what if what in ("stream", "relation", "view", "query") else ""
    return " ".join(filter(None, (noun, name, _DONE[verb])))
