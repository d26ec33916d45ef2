"""Queries: made, changed, started, stopped and dropped."""

from __future__ import annotations

from tidemill.server.control import Control
from tidemill.server.planning import plan_of_query
from tidemill.server.routes.common import FOREVER, End, QueryName, Routes, Serving, Start
from tidemill.server.service import Service
from tidemill.show.queries import progress_of
from tidemill.wire.plans import PlanReport
from tidemill.wire.queries import (
    ChangedQuery,
    DroppedQuery,
    NewQuery,
    QueryEntry,
    QueryProgress,
    SettingsInForce,
    StartRequest,
)

routes = Routes("queries")


@routes.shared("/queries", "All queries")
def queries(service: Service) -> list[QueryEntry]:
    """What queries there are, and what they are doing."""
    return service.queries()


@routes.answer("POST", "/queries", "Make a query, and start it", 404, 409, status=201)
def create(service: Serving, query: NewQuery) -> QueryEntry:
    """Give a query a name; its results are kept, unless it says INSERT INTO."""
    return Control(service).create(query)


@routes.answer("GET", "/queries/{name}", "One query", 404)
def query(service: Serving, name: QueryName) -> QueryEntry:
    """What a query asks for, and what it is doing."""
    return service.query(name)


@routes.answer("PATCH", "/queries/{name}", "Change a query while it runs", 404, 409)
def change(service: Serving, name: QueryName, wanted: ChangedQuery) -> QueryEntry:
    """Give a query another definition, or a better plan, without a gap in its answers."""
    return Control(service).change(name, wanted.sql, wanted.optimize)


@routes.answer("DELETE", "/queries/{name}", "Drop a query", 404, 409)
def drop(service: Serving, name: QueryName) -> DroppedQuery:
    """Stop a query and forget it."""
    return Control(service).drop(name)


@routes.answer("POST", "/queries/{name}/start", "Start a query", 404, 409)
def start(service: Serving, name: QueryName, wanted: StartRequest | None = None) -> QueryEntry:
    """Let a query run from the next tick on."""
    return Control(service).start(name, wanted is not None and wanted.partial)


@routes.answer("POST", "/queries/{name}/stop", "Stop a query", 404, 409)
def stop(service: Serving, name: QueryName) -> QueryEntry:
    """Let a query rest; others go on."""
    return Control(service).stop(name)


@routes.answer("GET", "/queries/{name}/plan", "The plan of a query", 404)
def plan(service: Serving, name: QueryName) -> PlanReport:
    """The plan at every level, with costs and the rules that fired."""
    return plan_of_query(service, name)


@routes.answer("GET", "/queries/{name}/progress", "How far a query has come", 404, 409)
def progress(service: Serving, name: QueryName) -> QueryProgress:
    """What it read, what it gave, and what its operators do."""
    with service.lock:
        return progress_of(service.started(name).progress)


@routes.answer(
    "GET", "/queries/{name}/settings", "The sizes that results were computed with", 404, 409
)
def settings(
    service: Serving, name: QueryName, start: Start = 0, to: End = FOREVER
) -> SettingsInForce:
    """Of windows and granules that may vary, for results in a range of time."""
    with service.lock:
        found = service.started(name).settings(start, to)
    return SettingsInForce(settings={knob: list(map(list, each)) for knob, each in found.items()})
