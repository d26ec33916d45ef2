"""Plans at every level, with what they will cost and the rules that made them."""

from __future__ import annotations

from itertools import pairwise

from tidemill.algebra.plan import Plan
from tidemill.engine import Query
from tidemill.explain import Level
from tidemill.optimize import RULES
from tidemill.optimize.cost.usage import CostModel, Usage
from tidemill.show.problems import problem
from tidemill.show.tables import columns_of, domain_of
from tidemill.wire.plans import PlanCost, PlanLevels, PlanNode, PlanReport, PlanUsage, RuleStep

_SUMMARIES = {rule.name: rule.summary for rule in RULES}


def node_of(plan: Plan, model: CostModel | None = None) -> PlanNode:
    """A plan as a tree of operators; with a model, each with its cost."""
    return PlanNode(
        operator=type(plan).__name__,
        details=plan.details(),
        columns=columns_of(plan.schema),
        cost=None if model is None else _cost(plan, model),
        inputs=[node_of(child, model) for child in plan.children],
    )


def _cost(plan: Plan, model: CostModel) -> PlanCost:
    stream, usage = model.estimator.of(plan), model.of(plan)
    return PlanCost(rate=stream.rate, live_rows=stream.live_rows, **_usage(usage))


def _usage(usage: Usage) -> dict[str, float]:
    return {
        "cpu": usage.seconds,
        "state_rows": usage.state_rows,
        "state_bytes": usage.state_bytes,
    }


def plans_of(query: Query, sql: str) -> PlanReport:
    """Everything about the plan of a query: before and after the rules, and its operators."""
    model = query.costs.model
    explained = {level.value: query.explanation(level) for level in Level}
    return PlanReport(
        sql=sql,
        columns=columns_of(query.schema),
        domain=domain_of(query.planned.domain),
        warnings=[problem(warning) for warning in query.warnings],
        plans=PlanLevels(
            logical=node_of(query.planned.plan, model),
            optimized=node_of(query.optimized.plan, model),
            physical=node_of(query.operators),
        ),
        texts={level: explained[level].text for level in ("stages", "cost", "verbose")},
        lines={level: list(each.lines) for level, each in explained.items()},
        rules=_rules(query),
        total=PlanUsage(**_usage(model.total(query.optimized.plan))),
    )


def _rules(query: Query) -> list[RuleStep]:
    """The rules that changed the plan, in their order, with the plan before and after each."""
    plans = [query.optimized.before, *(after for _, after in query.optimized.steps)]
    names = [name for name, _ in query.optimized.steps]
    return [
        RuleStep(name=name, summary=_SUMMARIES.get(name, ""), before=before, after=after)
        for name, (before, after) in zip(names, pairwise(map(node_of, plans)), strict=True)
    ]
