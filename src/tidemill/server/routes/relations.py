"""Relations that change, and what is known of streams."""

from __future__ import annotations

from fastapi import APIRouter, Response

from tidemill.server.models.requests import Deleted, Hint, Inserted
from tidemill.server.models.responses import Known, Taken
from tidemill.server.relations import Relations
from tidemill.server.routes.bodies import Route
from tidemill.server.routes.common import Serving, failures, told

router = APIRouter(tags=["relations"], route_class=Route)


@router.post(
    "/relations/{name}/rows",
    summary="Insert rows into a relation",
    response_model=Taken,
    responses=failures(404, 409),
)
async def insert(service: Serving, name: str, wanted: Inserted) -> Response:
    """Into a relation that changes, from an instant on."""
    return await told(lambda: {"rows": Relations(service).insert(name, wanted.rows, wanted.at)})


@router.delete(
    "/relations/{name}/rows",
    summary="Delete rows of a relation",
    response_model=Taken,
    responses=failures(404, 409),
)
async def delete(service: Serving, name: str, wanted: Deleted | None = None) -> Response:
    """Those that meet a condition, or all, from an instant on."""
    asked = wanted or Deleted()
    return await told(lambda: {"rows": Relations(service).delete(name, asked.where, asked.at)})


@router.post(
    "/hints",
    summary="Tell the planner what you know",
    response_model=Known,
    responses=failures(404),
)
async def hint(service: Serving, wanted: Hint) -> Response:
    """It wins over what was found out; the answer is all that is known."""

    def work() -> dict[str, str]:
        with service.lock:
            service.engine.hint(**wanted.model_dump())
            return {"statistics": str(service.engine.statistics)}

    return await told(work)
