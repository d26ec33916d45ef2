"""Streams and relations: what they are, rows for them, and what is known of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from tidemill.wire.base import Column, Domain, Instant, Request, WireModel

Row = dict[str, Any]


class StreamEntry(WireModel):
    """A stream: its columns, which of them is its time, and what was read of it."""

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


class RelationEntry(WireModel):
    """A relation."""

    name: str
    columns: list[Column]
    kind: str
    domain: Domain
    valid: list[str | None] | None
    rows: int | None
    used_by: list[str]
    sql: str


DerivedKind = Literal["stream", "relation", "view"]


class DerivedEntry(WireModel):
    """A stream, relation or view that a query defines."""

    name: str
    columns: list[Column]
    kind: DerivedKind
    domain: Domain
    depends_on: list[str]
    used_by: list[str]
    sql: str


class CatalogEntries(WireModel):
    """Everything that queries can read."""

    streams: list[StreamEntry]
    relations: list[RelationEntry]
    derived: list[DerivedEntry]


class PushedRows(Request):
    """Rows of a stream."""

    rows: list[Row]


class InsertedRows(Request):
    """Rows for a relation, from an instant on."""

    rows: list[Row]
    at: Instant | None = None


class DeletedRows(Request):
    """The condition for rows of a relation to go, from an instant on."""

    where: Annotated[str, Field(max_length=10_000)] | None = None
    at: Instant | None = None


class TakenRows(WireModel):
    """How many rows were taken, inserted or deleted."""

    rows: int


class Heartbeat(Request):
    """The instant that a stream has come to."""

    at: Instant


class Reached(WireModel):
    """The instant that a stream has come to."""

    at: int


class Hint(Request):
    """What is known of a stream or relation, or of conditions."""

    stream: str | None = None
    rate: float | None = None
    per: Annotated[int, Field(gt=0)] | str | None = None
    distinct: dict[str, float] | None = None
    rows: float | None = None
    length: Annotated[int, Field(gt=0)] | str | None = None
    selectivity: dict[str, float] | None = None


class KnownStatistics(WireModel):
    """What is known of streams, relations and conditions, as text."""

    statistics: str
