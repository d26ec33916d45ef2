"""The running graph, and what it needs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tidemill.wire.base import Domain, Instant, Request, WireModel
from tidemill.wire.queries import Pair


class GraphNode(WireModel):
    """A part of the running graph."""

    id: int
    operator: str
    details: str
    inputs: list[int]
    queries: list[str]
    role: Literal["source", "operator", "hand_over"]
    window: int | None
    granularity: int | None


class GraphRoot(WireModel):
    """Where the answers of a query come from."""

    query: str
    node: int


class Measured(WireModel):
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


class NodeHistory(Measured):
    """What one part did, after each of the last ticks."""

    at: list[int]


class GraphMigration(WireModel):
    """A query on its way to another plan, and the parts of both."""

    query: str
    split: int
    domain: Domain
    time_left: int
    old_rows: int
    old_nodes: list[int]
    new_nodes: list[int]
    phase: str


class GraphReport(WireModel):
    """The whole running graph."""

    revision: int
    tick: int
    nodes: list[GraphNode]
    roots: list[GraphRoot]
    measures: Measures
    migrations: list[GraphMigration]


class ResourceBounds(WireModel):
    """Bytes of memory and cores; null where there is no bound."""

    memory: float | None
    cpu: float | None


class Needed(WireModel):
    """What is needed, as measured and as estimated."""

    memory: float
    estimated_memory: float | None
    cpu: float
    estimated_cpu: float | None


class NeededHistory(WireModel):
    """What was needed in the last minutes (milliseconds since 1970)."""

    at: list[int]
    memory: list[float]
    estimated_memory: list[float | None]
    cpu: list[float]
    estimated_cpu: list[float | None]


class KnobEntry(WireModel):
    """A size of windows or granules that may be changed."""

    name: str
    kind: str
    size: int
    lower: int
    upper: int
    queries: list[str]


EventKind = Literal["start", "stop", "fail", "adapt", "migrate", "migrated", "refuse", "late"]


class EventEntry(WireModel):
    """Something that has happened."""

    at: int
    tick: int
    kind: EventKind
    query: str | None
    text: str
    instant: int | None


class ResourceReport(WireModel):
    """Bounds, what is needed, which sizes may be changed, and what has happened."""

    bounds: ResourceBounds
    now: Needed
    history: NeededHistory
    knobs: list[KnobEntry]
    events: list[EventEntry]


class EventList(WireModel):
    """What has happened, the oldest first."""

    events: list[EventEntry]


class NewSizes(Request):
    """Sizes of windows and granules, by the names of their knobs, from an instant on."""

    sizes: dict[str, Annotated[int, Field(ge=1, le=2**62)]]
    at: Instant = 0


class Adapted(WireModel):
    """From which instant on which size counts, by knob."""

    sizes: dict[str, Pair]
