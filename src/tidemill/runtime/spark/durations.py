"""How long rows hold that Spark has made of streams: their ends need not travel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from tidemill.algebra.adjusting import Changes
from tidemill.timeline import BEGIN, OPEN_END, VALID_FROM, add


@dataclass(frozen=True)
class Duration:
    """A number of instants; rows that start at or after an instant may hold for another one.

    >>> Duration(50, ((7, 20),)).latest_end(9), Duration(50, ((7, 20),)).latest_end(90)
    (56, 109)
    """

    first: int
    changes: Changes = ()

    def latest_end(self, newest_end: int) -> int:
        """The last end of any row; `newest_end` is that of the newest row without a window."""
        if newest_end == BEGIN:
            return BEGIN
        ends = (
            add(min(newest_end, until) - 1, size)
            for since, until, size in self._spans()
            if since < newest_end
        )
        return max(ends)

    def end_in_spark(self) -> str:
        """The end of a row in Spark SQL; beyond the end of time it is open."""
        *later, (_, _, first) = reversed(list(self._spans()))
        cases = " ".join(
            f"WHEN {VALID_FROM} >= {since} THEN {_end_in_spark(size)}" for since, _, size in later
        )
        return f"CASE {cases} ELSE {_end_in_spark(first)} END" if later else _end_in_spark(first)

    def end(self) -> pl.Expr:
        """The same for a frame."""
        start = pl.col(VALID_FROM)
        end = _end(self.first)
        for since, size in self.changes:
            end = pl.when(start >= since).then(_end(size)).otherwise(end)
        return end

    def _spans(self) -> Iterator[tuple[int, int, int]]:
        """Since and until when rows start that hold for so long."""
        sizes = [(BEGIN, self.first), *self.changes]
        bounds = [*(at for at, _ in self.changes), OPEN_END]
        for (since, size), until in zip(sizes, bounds, strict=True):
            yield since, until, size


def _end_in_spark(size: int) -> str:
    last = OPEN_END - size
    return f"CASE WHEN {VALID_FROM} < {last} THEN {VALID_FROM} + {size} ELSE {OPEN_END} END"


def _end(size: int) -> pl.Expr:
    is_open = pl.col(VALID_FROM) > OPEN_END - size
    return pl.when(is_open).then(pl.lit(OPEN_END, pl.Int64)).otherwise(pl.col(VALID_FROM) + size)
