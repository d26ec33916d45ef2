"""Plans that people build by hand: the palette, checks, any query opened, and plans that run."""

from __future__ import annotations

from tidemill.compose import operators
from tidemill.server.composing import check_composed, open_composed, run_composed
from tidemill.server.routes.common import Routes, Serving
from tidemill.wire.compose import (
    ComposeCheck,
    ComposedPlan,
    ComposeRun,
    Level,
    OpenRequest,
    Palette,
    RunComposed,
)

routes = Routes("compose")


@routes.answer("GET", "/compose/operators", "The operators that plans are built of")
def palette(level: Level = "logical") -> Palette:
    """Every operator, with its settings."""
    return Palette.model_validate({"level": level, "operators": operators(level)})


@routes.answer("POST", "/compose/check", "Check a composed plan")
def check(service: Serving, plan: ComposedPlan) -> ComposeCheck:
    """What each node gives, or what is missing; of a complete plan its SQL, plans and costs."""
    return check_composed(service, plan)


@routes.answer("POST", "/compose/open", "Open a query as a composed plan", 404)
def open_query(service: Serving, wanted: OpenRequest) -> ComposedPlan:
    """The plan of a query, given by its name or its text, with a place for every node."""
    return open_composed(service, wanted.query, wanted.level)


@routes.answer("POST", "/compose/run", "Run a composed plan", 404, 409, status=201)
def run(service: Serving, wanted: RunComposed) -> ComposeRun:
    """Give a composed plan a name, and let it run."""
    return run_composed(service, wanted.name, wanted.plan, wanted.partial)
