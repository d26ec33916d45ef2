"""Queries: how they are made and changed, what they ask for, and what they are doing."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tidemill.wire.base import Column, Domain, Name, Problem, Request, WireModel
from tidemill.wire.parameters import Given

# FastAPI describes tuples as an older version of JSON Schema did.
Pair = Annotated[list[int], Field(min_length=2, max_length=2)]
StateName = Literal["running", "stopped", "failed"]


class NewQuery(Request):
    """A query under a name; it is started unless it is told not to."""

    name: Name
    sql: str
    parameters: Given = {}
    start: bool = True
    partial: bool = False


class ChangedQuery(Request):
    """Another definition of a query, or a better plan for the one it has."""

    sql: str | None = None
    optimize: bool = False


class StartRequest(Request):
    """Whether a query may answer before it is complete."""

    partial: bool = False


class MigrationLeft(WireModel):
    """A change of plan that goes on: when the new one takes over, and what is left."""

    split: int
    time_left: int
    old_rows: int


class OrderKey(WireModel):
    """A column by which the rows of an instant are shown in order."""

    column: str
    descending: bool
    nulls_first: bool


class QueryEntry(WireModel):
    """A query: what it asks for, and what it is doing."""

    name: str
    state: StateName
    error: str | None
    sql: str
    columns: list[Column]
    order: list[OrderKey] = []
    domain: Domain
    depends_on: list[str]
    sink: str
    warnings: list[Problem]
    complete_from: int | None = None
    rows_out: int = 0
    started: bool = False
    sizes: dict[str, list[Pair]] = {}
    migration: MigrationLeft | None = None


class DroppedQuery(WireModel):
    """What was dropped."""

    name: str


class SourceRead(WireModel):
    """What was read of a source."""

    rows: int
    late_rows: int
    watermark: int | None


class OperatorEntry(WireModel):
    """What an operator of a query has done."""

    operator: str
    rows_in: int
    rows_out: int
    state_rows: int
    state_bytes: int
    measures: dict[str, float]


class QueryProgress(WireModel):
    """How far a query has come."""

    ticks: int
    rows_in: int
    rows_out: int
    late_rows: int
    seconds: float
    sources: dict[str, SourceRead]
    operators: list[OperatorEntry]


class SettingsInForce(WireModel):
    """With which sizes results were computed: from when on, and the size."""

    settings: dict[str, list[Pair]]
