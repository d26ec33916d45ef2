"""Statements of SQL: run, checked, planned."""

from __future__ import annotations

from fastapi import Request, Response

from tidemill.server.checking import check
from tidemill.server.planning import plan_report
from tidemill.server.routes.common import Form, Routes, Serving, formed, rows_response
from tidemill.server.runs import Runs
from tidemill.server.statements import Scripts
from tidemill.wire.plans import PlanReport
from tidemill.wire.statements import RunRequest, Script, ScriptCheck, ScriptResult
from tidemill.wire.tables import Table

routes = Routes("statements")


@routes.answer("POST", "/statements", "Run statements", 404, 409)
def statements(service: Serving, script: Script) -> ScriptResult:
    """Run a script, statement by statement. If one is wrong, `done` tells how many were run."""
    return Scripts(service).run(script.sql, script.parameters)


@routes.answer("POST", "/check", "Check statements without running them")
def check_statements(service: Serving, script: Script) -> ScriptCheck:
    """What is wrong with a script, and where."""
    return check(service, script.sql)


@routes.answer("POST", "/plan", "Plan a query without starting it")
def plan(service: Serving, script: Script) -> PlanReport:
    """The plan of a query at every level, with costs and the rules that fired."""
    return plan_report(service, script.sql, script.parameters)


@routes.described("POST", "/run", "Run a query over what is bounded", shape=Table, rows=True)
def run(request: Request, wanted: RunRequest, form: Form) -> Response:
    """Its rows, from files and tables, with the time in which they hold."""
    runs: Runs = request.app.state.runs
    return rows_response(formed(runs.run(wanted), form), form)
