"""Queries by name: made, changed, started, stopped and dropped, as statements would."""

from __future__ import annotations

from tidemill.server.planning import PlannedApart, planned
from tidemill.server.problems import Conflict, Refused
from tidemill.server.reading import read_one
from tidemill.server.service import Service
from tidemill.server.statements import Scripts
from tidemill.show.statements import quoted
from tidemill.sql import CreateQuery
from tidemill.wire.queries import DroppedQuery, QueryEntry


class Control:
    """Turns wishes about queries into statements, so that there is one way to do each thing."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._scripts = Scripts(service)

    def create(self, name: str, sql: str, start: bool, partial: bool) -> QueryEntry:
        """Give a query a name, and let it run if that is wanted; both, or nothing."""
        return self._begun(name, sql, start, partial, self._planned(sql))

    def adopt(self, name: str, definition: str, partial: bool, planned: PlannedApart) -> QueryEntry:
        """Give a plan that was checked a name, and let it run; both, or nothing."""
        return self._begun(name, definition, True, partial, planned)

    def _begun(
        self, name: str, definition: str, start: bool, partial: bool, planned: PlannedApart
    ) -> QueryEntry:
        statements = [f"CREATE QUERY {quoted(name)} AS\n{definition}"]
        if start:
            statements.append(f"START QUERY {quoted(name)}{' PARTIAL' if partial else ''}")
        return self._scripts.begin(name, *statements, planned=planned)

    def change(self, name: str, sql: str | None, optimize: bool) -> QueryEntry:
        """Give a query another definition, or a better plan."""
        known = self._service.name_of(name)
        if (sql is None) == (not optimize):
            raise Refused("nothing to change, or two things", help='send "sql" or "optimize"')
        planned = None if sql is None else self._planned(sql)
        wanted = "OPTIMIZE" if sql is None else f"AS\n{sql}"
        self._scripts.alter(f"ALTER QUERY {quoted(known)} {wanted}", planned)
        return self._service.query(known)

    def start(self, name: str, partial: bool) -> QueryEntry:
        """Let a query run."""
        known = self._service.name_of(name)
        run = self._service.run_of(known)
        if run is not None and run.is_active:
            raise Conflict(f"the query `{known}` is running already", help="stop it first")
        self._run(f"START QUERY {quoted(known)}{' PARTIAL' if partial else ''}")
        return self._service.query(known)

    def stop(self, name: str) -> QueryEntry:
        """Let a query rest."""
        known = self._service.name_of(name)
        run = self._service.run_of(known)
        if run is None or not run.is_active:
            raise Conflict(f"the query `{known}` is not running", help="start it first")
        self._run(f"STOP QUERY {quoted(known)}")
        return self._service.query(known)

    def drop(self, name: str) -> DroppedQuery:
        """Forget a query."""
        known = self._service.name_of(name)
        self._run(f"DROP QUERY {quoted(known)}")
        return DroppedQuery(name=known)

    def _planned(self, sql: str) -> PlannedApart:
        """The query of a text; what is wrong is told with places in the text that was sent."""
        if isinstance(read_one(sql, self._service.settings.limits), CreateQuery):
            help = "write SELECT ...: the name is given besides"
            raise Refused("this is a statement that makes a query", help=help)
        return planned(self._service, sql)[0]

    def _run(self, sql: str) -> None:
        self._scripts.run(sql)
