"""Plans at every level, with what they will cost and the rules that made them."""

from __future__ import annotations

from tidemill.explain import PlanLine
from tidemill.wire.base import Column, Domain, Problem, WireModel


class PlanUsage(WireModel):
    """What is needed: seconds of a core per instant, and rows and bytes of state."""

    cpu: float
    state_rows: float
    state_bytes: float


class PlanCost(PlanUsage):
    """What a part of a plan gives and needs."""

    rate: float
    live_rows: float


class PlanNode(WireModel):
    """A part of a plan."""

    operator: str
    details: str
    columns: list[Column]
    cost: PlanCost | None
    inputs: list[PlanNode]


class PlanLevels(WireModel):
    """A plan as the query says it, after the rules, and as operators."""

    logical: PlanNode
    optimized: PlanNode
    physical: PlanNode


class RuleStep(WireModel):
    """A rule that changed the plan."""

    name: str
    summary: str
    before: PlanNode | None
    after: PlanNode


class PlanReport(WireModel):
    """Everything about the plan of a query; `lines` are those of explain, by level."""

    sql: str
    columns: list[Column]
    domain: Domain
    warnings: list[Problem]
    plans: PlanLevels
    texts: dict[str, str]
    lines: dict[str, list[PlanLine]]
    rules: list[RuleStep]
    total: PlanUsage
