"""What an operator has done: counted in its task, and reported unchanged everywhere.

Tasks count, reports carry the record to the driver, partitions are merged there. Progress of
queries, metadata of the graph, the resource manager, selectivities and the server read that record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import polars as pl

from tidemill.physical.mechanisms.once import ONCE
from tidemill.physical.operator import ends, starts
from tidemill.timeline import BEGIN, OPEN_END

_SAMPLE = 1024


@dataclass
class OperatorProgress:
    """What an operator took in and put out so far, and what it remembers.

    It remembers the `state` after the last tick, and the `most` after the tick that left most (over
    partitions, the sum of the most of each). Rows come in from every input; operators at the
    beginning of a stage take in nothing: rows come out of them. `measures` are what only operators
    of its kind tell.

    Of joins also: for how long the rows of each input held, together, and when they started. The
    `watermark` is that of what it gives; the latest of the rows that it gave start at
    `latest_start` and end before `latest_end`; time has `reached` an instant in what it reads, of
    which it may wait to tell.
    """

    operator: str
    rows_out: int = 0
    state_rows: int = 0
    state_bytes: int = 0
    rows_by_input: Sequence[int] = ()
    held: Sequence[float] = ()
    first: int = OPEN_END
    last: int = BEGIN
    most_rows: int = 0
    most_bytes: int = 0
    measures: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    watermark: int = BEGIN
    latest_start: int = BEGIN
    latest_end: int = BEGIN
    reached: int = BEGIN

    @property
    def rows_in(self) -> int:
        """Rows of all inputs."""
        return sum(self.rows_by_input)

    @property
    def time(self) -> int:
        """How far time has come in what the operator reads."""
        return max(self.reached, self.watermark)

    def count_state(self, rows: int, nbytes: int) -> None:
        """Take note of what the operator remembers now."""
        self.state_rows, self.state_bytes = rows, nbytes
        self.most_rows, self.most_bytes = max(rows, self.most_rows), max(nbytes, self.most_bytes)

    def count_in(self, inputs: Sequence[pl.DataFrame], joins: bool) -> None:
        """Take note of new rows."""
        self.rows_by_input = _sums(self.rows_by_input, [rows.height for rows in inputs])
        if joins:
            lives = [ONCE.get((rows,), "lives", partial(_lives, rows)) for rows in inputs]
            self.held = _sums(self.held, [held for held, _, _ in lives])
            self.first = min(self.first, *(first for _, first, _ in lives))
            self.last = max(self.last, *(last for _, _, last in lives))

    def count_out(self, rows: pl.DataFrame, watermark: int) -> None:
        """Take note of what the operator gives."""
        self.watermark = watermark
        if rows.height:
            self.rows_out += rows.height
            self.latest_start = max(self.latest_start, int(starts(rows).max()))
            self.latest_end = max(self.latest_end, int(ends(rows).max()))

    def copy(self) -> OperatorProgress:
        """The same, as it stands now."""
        # There are thousands of them, and `replace` takes ten times as long.
        other = object.__new__(OperatorProgress)
        other.__dict__.update(self.__dict__)
        return other

    def merge(self, other: OperatorProgress) -> None:
        """Take what the same operator has done in another partition into account."""
        self.add_state(other)
        self.rows_out += other.rows_out
        self.rows_by_input = _sums(self.rows_by_input, other.rows_by_input)
        self.held = _sums(self.held, other.held)
        self.first = min(self.first, other.first)
        self.last = max(self.last, other.last)
        self.watermark = min(self.watermark, other.watermark)
        self.latest_start = max(self.latest_start, other.latest_start)
        self.latest_end = max(self.latest_end, other.latest_end)
        self.reached = min(self.reached, other.reached)

    def add_state(self, other: OperatorProgress) -> None:
        """Take what another operator keeps, and the time that it took, into account."""
        self.state_rows += other.state_rows
        self.state_bytes += other.state_bytes
        self.most_rows += other.most_rows
        self.most_bytes += other.most_bytes
        self.seconds += other.seconds
        names = {**self.measures, **other.measures}
        self.measures = {
            name: self.measures.get(name, 0.0) + other.measures.get(name, 0.0) for name in names
        }


def with_state_of(top: OperatorProgress, others: Iterable[OperatorProgress]) -> OperatorProgress:
    """Operators that are one part of a plan: rows of the top one, and what all of them keep.

    >>> window = OperatorProgress("AggregateExec", rows_out=3, state_rows=5)
    >>> with_state_of(window, [OperatorProgress("MergeExec", rows_out=9, state_rows=1)]).state_rows
    6
    """
    whole = top.copy()
    for other in others:
        whole.add_state(other)
    return whole


_Number = TypeVar("_Number", int, float)


def _sums(left: Sequence[_Number], right: Sequence[_Number]) -> Sequence[_Number]:
    if not left or not right:
        return list(left or right)  # an operator that had nothing to do counted nothing
    return [a + b for a, b in zip(left, right, strict=True)]


def _lives(rows: pl.DataFrame) -> tuple[float, int, int]:
    """How long rows hold, together, and when the first and the last start.

    For how long, those that are looked at stand for all.
    """
    if not rows.height:
        return 0.0, OPEN_END, BEGIN
    some, times = rows.head(_SAMPLE), starts(rows)
    held = float((ends(some) - starts(some)).mean()) * rows.height
    return held, int(times.min()), int(times.max())
