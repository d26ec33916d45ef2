"""What clients send."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Instant = Annotated[int, Field(ge=0, le=2**63 - 2)]
Row = dict[str, Any]


class Request(BaseModel):
    """A request says nothing that is not understood."""

    model_config = ConfigDict(extra="forbid")


class Script(Request):
    """Statements of SQL, separated by semicolons."""

    sql: str


class RunRequest(Request):
    """A query over what is bounded, and how many rows of the answer are wanted."""

    sql: str
    limit: Annotated[int, Field(ge=0, le=1_000_000)] = 1000


class NewQuery(Request):
    """A query under a name; it is started unless it is told not to."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    sql: str
    start: bool = True
    partial: bool = False


class ChangedQuery(Request):
    """Another definition of a query, or a better plan for the one it has."""

    sql: str | None = None
    optimize: bool = False


class StartRequest(Request):
    """Whether a query may answer before it is complete."""

    partial: bool = False


class Heartbeat(Request):
    """The instant that a stream has come to."""

    at: Instant


class Rows(Request):
    """Rows of a stream."""

    rows: list[Row]


class Inserted(Request):
    """Rows for a relation, from an instant on."""

    rows: list[Row]
    at: Instant | None = None


class Deleted(Request):
    """The condition for rows of a relation to go, from an instant on."""

    where: Annotated[str, Field(max_length=10_000)] | None = None
    at: Instant | None = None


class Hint(Request):
    """What is known of a stream or relation, or of conditions."""

    stream: str | None = None
    rate: float | None = None
    per: Annotated[int, Field(gt=0)] | str | None = None
    distinct: dict[str, float] | None = None
    rows: float | None = None
    length: Annotated[int, Field(gt=0)] | str | None = None
    selectivity: dict[str, float] | None = None


class Sizes(Request):
    """Sizes of windows and granules, by the names of their knobs, from an instant on."""

    sizes: dict[str, Annotated[int, Field(ge=1, le=2**62)]]
    at: Instant = 0
