"""Statements of SQL: run, checked, planned."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tidemill.server.checking import check
from tidemill.server.models.graph import PlanReport
from tidemill.server.models.requests import RunRequest, Script
from tidemill.server.models.responses import Check, ScriptResult, Table
from tidemill.server.planning import plan_report
from tidemill.server.routes.bodies import Route
from tidemill.server.routes.common import (
    TABLES,
    Format,
    Serving,
    failures,
    rows_response,
    shape_of,
    shaped,
    told,
)
from tidemill.server.runs import Runs
from tidemill.server.statements import Scripts

router = APIRouter(tags=["statements"], route_class=Route)


@router.post(
    "/statements",
    summary="Run statements",
    response_model=ScriptResult,
    responses=failures(404, 409),
)
async def statements(service: Serving, script: Script) -> Response:
    """Run a script, statement by statement. If one is wrong, `done` tells how many were run."""
    return await told(lambda: {"results": Scripts(service).run(script.sql)})


@router.post(
    "/check",
    summary="Check statements without running them",
    response_model=Check,
    responses=failures(),
)
async def check_statements(service: Serving, script: Script) -> Response:
    """What is wrong with a script, and where."""
    return await told(lambda: check(service, script.sql))


@router.post(
    "/plan",
    summary="Plan a query without starting it",
    response_model=PlanReport,
    responses=failures(),
)
async def plan(service: Serving, script: Script) -> Response:
    """The plan of a query at every level, with costs and the rules that fired."""
    return await told(lambda: plan_report(service, script.sql))


@router.post(
    "/run",
    summary="Run a query over what is bounded",
    response_model=Table,
    responses={200: TABLES, **failures()},
)
async def run(request: Request, wanted: RunRequest, format: Format = None) -> Response:
    """Its rows, from files and tables, with the time in which they hold."""
    runs: Runs = request.app.state.runs
    shape = shape_of(request, format)
    body = await run_in_threadpool(lambda: shaped(runs.run(wanted.sql, wanted.limit), shape))
    return rows_response(body, shape)
