"""What the server answers."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

Domain = Literal["ticks", "microseconds"] | None


class Problem(BaseModel):
    """What is wrong, where in the text, and what to do about it."""

    message: str
    line: int | None = None
    column: int | None = None
    length: int | None = None
    help: str | None = None
    kind: str


class Failure(BaseModel):
    """The answer to a request that was not carried out."""

    error: Problem
    done: int | None = None


class Column(BaseModel):
    """A column: its name, and its type as in SQL."""

    name: str
    type: str


class Info(BaseModel):
    """The server and its limits."""

    version: str
    runtime: str
    every: str
    ticks: int
    uptime: float
    demo: bool
    limits: dict[str, float]
    allow: list[str]
    authenticated: bool


class PlannedQuery(BaseModel):
    """A query that was planned."""

    columns: list[Column]
    domain: Domain
    sql: str
    warnings: list[Problem]


class StatementResult(BaseModel):
    """What one statement did."""

    kind: str
    name: str | None
    message: str
    query: PlannedQuery | None = None


class ScriptResult(BaseModel):
    """What the statements of a script did."""

    results: list[StatementResult]


class StatementPlace(BaseModel):
    """A statement, and where it stands in the text (offsets of characters)."""

    kind: str
    name: str | None
    start: int
    end: int


class Check(BaseModel):
    """The statements of a text, and what is wrong with them."""

    statements: list[StatementPlace]
    errors: list[Problem]
    warnings: list[Problem]


class Table(BaseModel):
    """Rows, with the time in which each holds; an open end is null."""

    columns: list[Column]
    domain: Domain
    rows: list[list[Any]]
    valid_from: list[int | None]
    valid_to: list[int | None]
    truncated: bool
    complete_until: int | None


class Snapshot(Table):
    """Rows that hold at an instant."""

    at: int | None


class Changes(Table):
    """Rows that came (+) and went (-), when, and where to go on reading."""

    at: list[int]
    change: list[Literal["+", "-"]]
    cursor: int
    missed: bool


class Stream(BaseModel):
    """A stream, and what was read of it."""

    name: str
    columns: list[Column]
    time: str | None
    domain: Domain
    slack: int
    pushed: bool
    used_by: list[str]
    sql: str
    rows: int
    late_rows: int
    watermark: int | None
    rate: float


class Relation(BaseModel):
    """A relation."""

    name: str
    columns: list[Column]
    kind: str
    domain: Domain
    valid: list[str | None] | None
    rows: int | None
    used_by: list[str]
    sql: str


class DerivedEntry(BaseModel):
    """A stream or relation that a query defines."""

    name: str
    columns: list[Column]
    kind: Literal["stream", "relation"]
    domain: Domain
    depends_on: list[str]
    used_by: list[str]
    sql: str


class CatalogEntries(BaseModel):
    """Everything that queries can read."""

    streams: list[Stream]
    relations: list[Relation]
    derived: list[DerivedEntry]


class Taken(BaseModel):
    """How many rows were taken, inserted or deleted."""

    rows: int


class Reached(BaseModel):
    """The instant that a stream has come to."""

    at: int


class MigrationLeft(BaseModel):
    """A change of plan that goes on: when the new one takes over, and what is left."""

    split: int
    time: int
    old_rows: int


class QueryEntry(BaseModel):
    """A query: what it asks for, and what it is doing."""

    name: str
    state: Literal["running", "stopped", "failed"]
    error: str | None
    sql: str
    columns: list[Column]
    domain: Domain
    depends_on: list[str]
    sink: str
    warnings: list[Problem]
    complete_from: int | None
    rows_out: int
    started: bool
    sizes: dict[str, list[list[int]]]
    migration: MigrationLeft | None


class OperatorEntry(BaseModel):
    """What an operator of a query has done."""

    operator: str
    rows_in: int
    rows_out: int
    state_rows: int
    state_bytes: int
    measures: dict[str, float]


class SourceRead(BaseModel):
    """What was read of a source."""

    rows: int
    late_rows: int
    watermark: int | None


class QueryProgress(BaseModel):
    """How far a query has come."""

    ticks: int
    rows_in: int
    rows_out: int
    late_rows: int
    seconds: float
    sources: dict[str, SourceRead]
    operators: list[OperatorEntry]


class SettingsInForce(BaseModel):
    """With which sizes results were computed: from when on, and the size."""

    settings: dict[str, list[list[int]]]


class Dropped(BaseModel):
    """What was dropped."""

    name: str


class Known(BaseModel):
    """What is known of streams, relations and conditions, as text."""

    statistics: str
