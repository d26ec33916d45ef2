"""Plans at every level, with what they will cost and the rules that made them."""

from __future__ import annotations

from typing import Any

from tidemill.algebra.plan import Plan
from tidemill.engine import Query
from tidemill.explain import Level
from tidemill.optimize import RULES
from tidemill.optimize.cost.usage import CostModel, Usage
from tidemill.server.problems import problem
from tidemill.server.show.tables import columns_of, domain_of

_SUMMARIES = {rule.name: rule.summary for rule in RULES}


def node_of(plan: Plan, model: CostModel | None = None) -> dict[str, Any]:
    """A plan as a tree of operators; with a model, each with its cost."""
    return {
        "operator": type(plan).__name__,
        "details": plan.details(),
        "columns": columns_of(plan.schema),
        "cost": None if model is None else _cost(plan, model),
        "inputs": [node_of(child, model) for child in plan.children],
    }


def _cost(plan: Plan, model: CostModel) -> dict[str, float]:
    stream, usage = model.estimator.of(plan), model.of(plan)
    return {"rate": stream.rate, "live_rows": stream.live_rows, **usage_of(usage)}


def usage_of(usage: Usage) -> dict[str, float]:
    """What is needed: seconds of a core per instant, and rows and bytes of state."""
    return {
        "cpu": usage.seconds,
        "state_rows": usage.state_rows,
        "state_bytes": usage.state_bytes,
    }


def plans_of(query: Query, sql: str) -> dict[str, Any]:
    """Everything about the plan of a query: before and after the rules, and its operators."""
    model = query.costs.model
    explained = {level.value: query.explanation(level) for level in Level}
    return {
        "sql": sql,
        "columns": columns_of(query.schema),
        "domain": domain_of(query.planned.domain),
        "warnings": [problem(warning) for warning in query.warnings],
        "plans": {
            "logical": node_of(query.planned.plan, model),
            "optimized": node_of(query.optimized.plan, model),
            "physical": node_of(query.operators),
        },
        "texts": {level: explained[level].text for level in ("fragments", "cost", "verbose")},
        "lines": {level: each.lines for level, each in explained.items()},
        "rules": _rules(query),
        "total": usage_of(model.total(query.optimized.plan)),
    }


def _rules(query: Query) -> list[dict[str, Any]]:
    """The rules that changed the plan, in their order, with the plan before and after each."""
    found, before = [], query.optimized.before
    for name, after in query.optimized.steps:
        found.append(
            {
                "name": name,
                "summary": _SUMMARIES.get(name, ""),
                "before": node_of(before),
                "after": node_of(after),
            }
        )
        before = after
    return found
