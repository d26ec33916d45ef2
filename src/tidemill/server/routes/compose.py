"""Plans that people build by hand: the palette, checks, any query opened, and plans that run."""

from __future__ import annotations

from fastapi import APIRouter, Response

from tidemill.compose import operators
from tidemill.server.composing import check_composed, open_composed, run_composed
from tidemill.server.models.compose import (
    ComposeCheck,
    ComposedPlan,
    ComposeRun,
    Level,
    OpenRequest,
    Palette,
    RunComposed,
)
from tidemill.server.routes.bodies import Route
from tidemill.server.routes.common import Serving, failures, told

router = APIRouter(tags=["compose"], route_class=Route)


@router.get(
    "/compose/operators",
    summary="The operators that plans are built of",
    response_model=Palette,
    responses=failures(),
)
async def palette(level: Level = "logical") -> Response:
    """Every operator, with its settings."""
    return await told(lambda: {"level": level, "operators": operators(level)})


@router.post(
    "/compose/check",
    summary="Check a composed plan",
    response_model=ComposeCheck,
    responses=failures(),
)
async def check(service: Serving, plan: ComposedPlan) -> Response:
    """What each node gives, or what is missing; of a complete plan its SQL, plans and costs."""
    return await told(lambda: check_composed(service, plan))


@router.post(
    "/compose/open",
    summary="Open a query as a composed plan",
    response_model=ComposedPlan,
    responses=failures(404),
)
async def open_query(service: Serving, wanted: OpenRequest) -> Response:
    """The plan of a query, given by its name or its text, with a place for every node."""
    return await told(lambda: open_composed(service, wanted.query, wanted.level))


@router.post(
    "/compose/run",
    summary="Run a composed plan",
    status_code=201,
    response_model=ComposeRun,
    responses=failures(404, 409),
)
async def run(service: Serving, wanted: RunComposed) -> Response:
    """Give a composed plan a name, and let it run."""
    made = await told(lambda: run_composed(service, wanted.name, wanted.plan, wanted.partial))
    made.status_code = 201
    return made
