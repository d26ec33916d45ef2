"""Rows with the time in which they hold, as JSON has them."""

from __future__ import annotations

from typing import Any, Literal

from tidemill.wire.base import Column, Domain, WireModel


class Table(WireModel):
    """Rows, with the time in which each holds; an open end is null."""

    columns: list[Column]
    domain: Domain
    rows: list[list[Any]]
    valid_from: list[int]
    valid_to: list[int | None]
    truncated: bool
    complete_until: int | None


class SnapshotTable(Table):
    """Rows that hold at an instant."""

    at: int | None


class ChangesTable(Table):
    """Rows that came (+) and went (-), when, and where to go on reading."""

    at: list[int]
    change: list[Literal["+", "-"]]
    cursor: int
    missed: bool


class NewResults(Table):
    """Rows that are new to a client of the socket; with `reset`, it forgets those from before."""

    reset: bool
    cursor: int
