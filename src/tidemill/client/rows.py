"""Rows of answers, as Arrow tables."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True)
class Rows:
    """Rows of an answer, with `valid_from` and `valid_to`; `truncated` if there are more."""

    table: pa.Table
    truncated: bool = False
    complete_until: int | None = None


@dataclass(frozen=True)
class Snapshot(Rows):
    """The rows that hold at the instant `at`; None before there is one."""

    at: int | None = None


@dataclass(frozen=True)
class Changes(Rows):
    """Rows that came (+) and went (-); `cursor` is where to go on, `missed` if some are gone."""

    cursor: int = 0
    missed: bool = False
