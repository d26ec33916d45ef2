"""Plans, and the running graph."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from tidemill.explain import Line
from tidemill.server.models.responses import Column, Domain, Problem


class Usage(BaseModel):
    """What is needed: seconds of a core per instant, and rows and bytes of state."""

    cpu: float
    state_rows: float
    state_bytes: float


class Cost(Usage):
    """What a part of a plan gives and needs."""

    rate: float
    live_rows: float


class PlanNode(BaseModel):
    """A part of a plan."""

    operator: str
    details: str
    columns: list[Column]
    cost: Cost | None
    inputs: list[PlanNode]


class Plans(BaseModel):
    """A plan as the query says it, after the rules, and as operators."""

    logical: PlanNode
    optimized: PlanNode
    physical: PlanNode


class Rule(BaseModel):
    """A rule that changed the plan."""

    name: str
    summary: str
    before: PlanNode | None
    after: PlanNode


class PlanReport(BaseModel):
    """Everything about the plan of a query."""

    sql: str
    columns: list[Column]
    domain: Domain
    warnings: list[Problem]
    plans: Plans
    texts: dict[str, str]
    lines: dict[str, list[Line]]
    rules: list[Rule]
    total: Usage


class GraphNode(BaseModel):
    """A part of the running graph."""

    id: int
    operator: str
    details: str
    inputs: list[int]
    queries: list[str]
    role: Literal["source", "operator", "hand_over"]
    window: int | None
    granularity: int | None


class GraphRoot(BaseModel):
    """Where the answers of a query come from."""

    query: str
    node: int


class Measured(BaseModel):
    """What parts do, one list for each measure."""

    input_rate: list[float]
    output_rate: list[float]
    selectivity: list[float | None]
    rows_in: list[int]
    rows_out: list[int]
    state_rows: list[int]
    state_bytes: list[int]
    seconds: list[float]
    watermark: list[int | None]
    window: list[int | None]
    granularity: list[int | None]


class Measures(Measured):
    """What all parts do, after a tick."""

    tick: int
    at: int
    id: list[int]


class History(Measured):
    """What one part did, after each of the last ticks."""

    at: list[int]


class GraphMigration(BaseModel):
    """A query on its way to another plan, and the parts of both."""

    query: str
    split: int
    domain: Domain
    time_left: int
    old_rows: int
    old_nodes: list[int]
    new_nodes: list[int]
    phase: str


class GraphReport(BaseModel):
    """The whole running graph."""

    revision: int
    tick: int
    nodes: list[GraphNode]
    roots: list[GraphRoot]
    measures: Measures
    migrations: list[GraphMigration]


class Bounds(BaseModel):
    """Bytes of memory and cores; null where there is no bound."""

    memory: float | None
    cpu: float | None


class Needed(BaseModel):
    """What is needed, as measured and as estimated."""

    memory: float
    estimated_memory: float | None
    cpu: float
    estimated_cpu: float | None


class NeededHistory(BaseModel):
    """What was needed in the last minutes (milliseconds since 1970)."""

    at: list[int]
    memory: list[float]
    estimated_memory: list[float | None]
    cpu: list[float]
    estimated_cpu: list[float | None]


class KnobEntry(BaseModel):
    """A size of windows or granules that may be changed."""

    name: str
    kind: str
    size: int
    lower: int
    upper: int
    queries: list[str]


class Event(BaseModel):
    """Something that has happened."""

    at: int
    tick: int
    kind: Literal["start", "stop", "fail", "adapt", "migrate", "migrated", "refuse", "late"]
    query: str | None
    text: str
    instant: int | None


class ResourceReport(BaseModel):
    """Bounds, what is needed, which sizes may be changed, and what has happened."""

    bounds: Bounds
    now: Needed
    history: NeededHistory
    knobs: list[KnobEntry]
    events: list[Event]


# FastAPI describes tuples as an older version of JSON Schema did.
Pair = Annotated[list[int], Field(min_length=2, max_length=2)]


class Adapted(BaseModel):
    """From which instant on which size counts, by knob."""

    sizes: dict[str, Pair]
