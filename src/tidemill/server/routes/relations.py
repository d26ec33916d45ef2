"""Relations that change, and what is known of streams."""

from __future__ import annotations

from tidemill.server.relations import Relations
from tidemill.server.routes.common import Routes, Serving
from tidemill.wire.catalog import DeletedRows, Hint, InsertedRows, KnownStatistics, TakenRows

routes = Routes("relations")


@routes.answer("POST", "/relations/{name}/rows", "Insert rows into a relation", 404, 409)
def insert(service: Serving, name: str, wanted: InsertedRows) -> TakenRows:
    """Into a relation that changes, from an instant on."""
    return TakenRows(rows=Relations(service).insert(name, wanted.rows, wanted.at))


@routes.answer("DELETE", "/relations/{name}/rows", "Delete rows of a relation", 404, 409)
def delete(service: Serving, name: str, wanted: DeletedRows | None = None) -> TakenRows:
    """Those that meet a condition, or all, from an instant on."""
    asked = wanted or DeletedRows()
    return TakenRows(rows=Relations(service).delete(name, asked.where, asked.at))


@routes.answer("POST", "/hints", "Tell the planner what you know", 404)
def hint(service: Serving, wanted: Hint) -> KnownStatistics:
    """It wins over what was found out; the answer is all that is known."""
    with service.lock:
        service.engine.hint(**wanted.model_dump())
        return KnownStatistics(statistics=str(service.engine.statistics))
