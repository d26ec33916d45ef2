"""The server itself, and statements of SQL: run, checked."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tidemill.wire.base import Column, Domain, Problem, Request, WireModel
from tidemill.wire.parameters import Given


class ServerInfo(WireModel):
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


class Script(Request):
    """Statements of SQL, separated by semicolons, and values for their parameters."""

    sql: str
    parameters: Given = {}


class RunRequest(Request):
    """A query over what is bounded, and how many rows of the answer are wanted.

    One over the answers of queries is about the instant `at`, or the newest that is known.
    """

    sql: str
    parameters: Given = {}
    at: int | None = None
    limit: Annotated[int, Field(ge=0, le=1_000_000)] = 1000


class PlannedQuery(WireModel):
    """A query that was planned."""

    columns: list[Column]
    domain: Domain
    sql: str
    warnings: list[Problem]


class ReportTable(WireModel):
    """What SHOW, DESCRIBE and EXPLAIN answer: a table of texts."""

    columns: list[str]
    rows: list[list[str]]


class StatementResult(WireModel):
    """What one statement did."""

    kind: str
    name: str | None
    message: str
    query: PlannedQuery | None = None
    table: ReportTable | None = None


class ScriptResult(WireModel):
    """What the statements of a script did."""

    results: list[StatementResult]


class StatementPlace(WireModel):
    """A statement, and where it stands in the text (offsets of characters)."""

    kind: str
    name: str | None
    start: int
    end: int


class ScriptCheck(WireModel):
    """The statements of a text, and what is wrong with them."""

    statements: list[StatementPlace]
    errors: list[Problem]
    warnings: list[Problem]
