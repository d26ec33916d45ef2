"""Composed plans, checked, opened and run by the engine of a server."""

from __future__ import annotations

from tidemill.compose import CheckedPlan, Composed, check, open_plan
from tidemill.compose.model import Level
from tidemill.compose.opening import named
from tidemill.compose.running import definition_of, runnable
from tidemill.deadline import look
from tidemill.engine import Query
from tidemill.engine.apart import Apart
from tidemill.server.control import Control
from tidemill.server.planning import PlannedApart, planning
from tidemill.server.problems import TooLarge
from tidemill.server.service import Service
from tidemill.show.plans import node_of, plans_of
from tidemill.wire.compose import ComposeCheck, ComposedPlan, ComposedPlans, ComposeRun


def check_composed(service: Service, plan: ComposedPlan) -> ComposeCheck:
    """What is right and wrong about a plan, and what it means."""
    checked, _ = _checked(service, plan)
    found = ComposeCheck.model_validate(checked.to_json())
    if checked.query is not None and checked.is_complete:
        with planning(service.settings.limits):
            return found.model_copy(update=_plans(checked, checked.query))
    return found


def _plans(checked: CheckedPlan, query: Query) -> dict[str, object]:
    if query.is_fixed and checked.meaning is None:
        plans = ComposedPlans(logical=None, optimized=None, physical=node_of(query.job.plan))
        return {"plans": plans, "texts": {"stages": query.explain("stages")}}
    report = plans_of(query, checked.sql or "")
    plans = ComposedPlans.model_validate(report.plans, from_attributes=True)
    return {"plans": plans, "texts": report.texts, "rules": report.rules, "total": report.total}


def open_composed(service: Service, query: str, level: Level) -> ComposedPlan:
    """A query as a composed plan."""
    with service.lock:
        name = named(query)
        wanted = query if name is None else service.name_of(name)
        apart = service.engine.apart()
    with planning(service.settings.limits):
        opened = open_plan(apart, wanted, level)
    return ComposedPlan.model_validate(opened.to_json())


def run_composed(service: Service, name: str, plan: ComposedPlan, partial: bool) -> ComposeRun:
    """Let a composed plan run under a name."""
    checked, apart = _checked(service, plan)
    definition = definition_of(runnable(checked))
    assert checked.query is not None
    planned = PlannedApart(checked.query, apart)
    query = Control(service).adopt(name, definition, partial, planned)
    return ComposeRun(query=query, sql=checked.sql)


def _checked(service: Service, plan: ComposedPlan) -> tuple[CheckedPlan, Apart]:
    """What was found out about a plan, while others use the engine, and with what."""
    composed = Composed.from_json(plan.model_dump())
    most = service.settings.limits.sql_characters
    if sum(_size(value) for node in composed.nodes for value in node.settings.values()) > most:
        raise TooLarge(f"the settings have more than {most} characters", help="make it smaller")
    with service.lock:
        apart = service.engine.apart()
    with planning(service.settings.limits):
        checked = check(apart, composed)
        look()  # what took too long is not wrong
        return checked, apart


def _size(value: object) -> int:
    return sum(map(len, value)) if isinstance(value, list) else len(str(value))
