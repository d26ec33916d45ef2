"""Queries by name: made, changed, started, stopped and dropped, as statements would."""

from __future__ import annotations

from tidemill.errors import SqlSyntaxError
from tidemill.server.planning import PlannedApart, planned, query_in
from tidemill.server.problems import Conflict, Refused
from tidemill.server.reading import NOTHING, read_one
from tidemill.server.service import Service
from tidemill.server.statements import Scripts
from tidemill.sql import CreateQuery, InsertInto, error_at
from tidemill.sql.building import (
    Definition,
    alter_query,
    create_query,
    drop,
    start_query,
    stop_query,
)
from tidemill.wire.parameters import Given
from tidemill.wire.queries import DroppedQuery, NewQuery, QueryEntry


class Control:
    """Turns wishes about queries into statements, so that there is one way to do each thing."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._scripts = Scripts(service)

    def create(self, wanted: NewQuery) -> QueryEntry:
        """Give a query a name, and let it run if that is wanted; both, or nothing."""
        definition = self._definition(wanted.sql, wanted.parameters)
        found = planned(self._service, definition)
        return self._begun(wanted.name, definition, wanted.start, wanted.partial, found)

    def adopt(
        self, name: str, definition: Definition, partial: bool, planned: PlannedApart
    ) -> QueryEntry:
        """Give a plan that was checked a name, and let it run; both, or nothing."""
        return self._begun(name, definition, True, partial, planned)

    def _begun(
        self, name: str, definition: Definition, start: bool, partial: bool, planned: PlannedApart
    ) -> QueryEntry:
        begun = [start_query(name, partial)] if start else []
        return self._scripts.begin(create_query(name, definition), *begun, planned=planned)

    def change(self, name: str, sql: str | None, optimize: bool) -> QueryEntry:
        """Give a query another definition, or a better plan."""
        known = self._service.name_of(name)
        if (sql is None) == (not optimize):
            raise Refused("nothing to change, or two things", help='send "sql" or "optimize"')
        if sql is None:
            self._scripts.perform(alter_query(known, None))
        else:
            self._redefine(known, self._definition(sql))
        return self._service.query(known)

    def _redefine(self, name: str, definition: Definition) -> None:
        if isinstance(definition, InsertInto):
            message = "expected a query, found `INSERT`"
            raise error_at(SqlSyntaxError, message, definition.sink.tree, "write SELECT ...")
        found = planned(self._service, definition)
        self._scripts.perform(alter_query(name, definition), found)

    def start(self, name: str, partial: bool) -> QueryEntry:
        """Let a query run."""
        known = self._service.name_of(name)
        run = self._service.run_of(known)
        if run is not None and run.is_active:
            raise Conflict(f"the query `{known}` is already running", help="stop it first")
        self._scripts.perform(start_query(known, partial))
        return self._service.query(known)

    def stop(self, name: str) -> QueryEntry:
        """Let a query rest."""
        known = self._service.name_of(name)
        run = self._service.run_of(known)
        if run is None or not run.is_active:
            raise Conflict(f"the query `{known}` is not running", help="start it first")
        self._scripts.perform(stop_query(known))
        return self._service.query(known)

    def drop(self, name: str) -> DroppedQuery:
        """Forget a query."""
        known = self._service.name_of(name)
        self._scripts.perform(drop("QUERY", known))
        return DroppedQuery(name=known)

    def _definition(self, sql: str, given: Given = NOTHING) -> Definition:
        """The query of a text; errors have places in the text that was sent."""
        if isinstance(read_one(sql, self._service.settings.limits, given), CreateQuery):
            help = "write SELECT ...: the name is given besides"
            raise Refused("this is a statement that makes a query", help=help)
        return query_in(self._service, sql, given)
