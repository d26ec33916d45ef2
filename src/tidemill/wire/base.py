"""What all shapes have in common."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Domain = Literal["ticks", "microseconds"] | None
Instant = Annotated[int, Field(ge=0, le=2**63 - 2)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class WireModel(BaseModel):
    """A part of an answer; newer servers may say more."""

    model_config = ConfigDict(frozen=True)


class Request(BaseModel):
    """A request says nothing that is not understood."""

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="strings")


class Column(WireModel):
    """A column: its name, and its type as in SQL."""

    name: str
    type: str


class Problem(WireModel):
    """What is wrong, where in the text, and what to do about it."""

    message: str
    line: int | None = None
    column: int | None = None
    length: int | None = None
    help: str | None = None
    kind: str = "error"


class Failure(WireModel):
    """The answer to a request that was not carried out; of a script, so many statements were
    `done`; of a server that starts, how far it is."""

    error: Problem
    done: int | None = None
    progress: str | None = None
