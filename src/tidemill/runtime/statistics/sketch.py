"""How many distinct values a column has, estimated while its rows pass by.

A HyperLogLog sketch over the 64-bit hashes that Polars computes for whole columns. The sketches
for distinct values of DataSketches, the best known library, take values one at a time from
Python: a call per row would cost many times as much. Here a row costs two to six nanoseconds per
column in large ticks, up to thirteen in ticks of a thousand rows, and columns that bring nothing
new are only sampled; see `benchmarks/gathering.py`.

Sketches of parts of the rows merge into the sketch of all of them, so that tasks on other
machines can each make one. Hashes agree between processes with the same version of Polars.
"""

from __future__ import annotations

import base64
import math

import numpy as np
import polars as pl

from tidemill.physical.mechanisms.arrays import Array
from tidemill.physical.mechanisms.compiled import compiled_for, fixed

_INDEX_BITS = 10
_REGISTERS = 1 << _INDEX_BITS
_RANK_BITS = 48  # the upper ones of a hash; the others choose a register
_HASH = ~np.uint64(0)  # the largest one
_SLICE = 1 << 16
_SKIPPED = 7 * _SLICE
"""Rows that are left out after a slice that brought nothing new."""

_RECENT_ROWS = 1 << 20
"""So many rows make a generation, at least; the values of the last two count."""

STANDARD_ERROR = 1.04 / math.sqrt(_REGISTERS)
"""Of an estimate, as a share of the true number."""


@compiled_for(fixed(np.zeros(0, np.uint64)), _HASH, np.zeros(0, np.uint8))
def note(hashes: Array, largest: np.uint64, registers: Array) -> bool:
    """Let registers know the ranks of hashes: the zeros before their first bit, and one more.

    Whether any has changed; none does by a hash that is larger than the largest.
    """
    changed = False
    for hash in hashes:
        if hash <= largest:
            index = hash & np.uint64(_REGISTERS - 1)
            rank = 1
            while rank < _RANK_BITS and not (hash >> np.uint64(64 - rank)) & np.uint64(1):
                rank += 1
            if rank > registers[index]:
                registers[index] = rank
                changed = True
    return changed


class Sketch:
    """The number of distinct values among rows, with an error of about three percent.

    >>> sketch = Sketch()
    >>> sketch.add(pl.Series([1, 2, 2, 3]))
    >>> round(sketch.estimate)
    3
    """

    STATE = ("_registers", "_quiet")

    def __init__(self, registers: Array | None = None) -> None:
        self._registers = np.zeros(_REGISTERS, np.uint8) if registers is None else registers
        self._quiet = 0  # rows since the last change

    def add(self, values: pl.Series) -> None:
        """Take more rows into account; NULL counts as a value."""
        for start in range(0, len(values), _SLICE):
            part = values[start : start + _SLICE]
            if self._quiet >= _SLICE + _SKIPPED:
                self._quiet = 0
            changed = self._quiet < _SLICE and self._take(part.hash(0).to_numpy())
            self._quiet = 0 if changed else self._quiet + len(part)

    def _take(self, hashes: Array) -> bool:
        """Whether any of the hashes changed a register."""
        # A hash whose rank is not above that of all registers can change none.
        largest = _HASH >> np.uint64(self._registers.min())
        return note(fixed(hashes), largest, self._registers)

    def merge(self, other: Sketch) -> None:
        """Take the rows of another sketch into account."""
        np.maximum(self._registers, other._registers, out=self._registers)

    @property
    def estimate(self) -> float:
        """The number of distinct values, by the estimator of Ertl (2017), which needs no tables."""
        counts = np.bincount(self._registers, minlength=_RANK_BITS + 2) / _REGISTERS
        total = _tau(1 - counts[_RANK_BITS + 1])
        for rank in range(_RANK_BITS, 0, -1):
            total = 0.5 * (total + counts[rank])
        total += _sigma(counts[0])
        return float(_REGISTERS / (2 * math.log(2) * total)) if total < math.inf else 0.0

    def dump(self) -> str:
        """The sketch as text, a kilobyte and a half."""
        return base64.b64encode(self._registers.tobytes()).decode()

    @staticmethod
    def load(text: str) -> Sketch:
        """The sketch that was dumped."""
        return Sketch(np.frombuffer(base64.b64decode(text), np.uint8).copy())


def _sigma(share: float) -> float:
    """What registers count that no value has reached."""
    if share == 1:
        return math.inf
    total, weight, before = share, 1.0, -1.0
    while total != before:
        share *= share
        before, total = total, total + share * weight
        weight += weight
    return total


def _tau(share: float) -> float:
    """What registers count that are full."""
    if share in (0, 1):
        return 0.0
    total, weight, before = 1 - share, 1.0, -1.0
    while total != before:
        share = math.sqrt(share)
        weight /= 2
        before, total = total, total - (1 - share) ** 2 * weight
    return total / 3


class RecentDistinct:
    """The number of distinct values among recent rows: old ones fade.

    There are two sketches. When one has seen enough rows, it takes the place of the one before,
    and a new one is begun; the estimate is that of both together.
    """

    def __init__(self) -> None:
        self._before = Sketch()
        self._now = Sketch()
        self._rows = 0
        self._estimate: float | None = 0.0

    def merge(self, sketch: Sketch, rows: int) -> None:
        """Take rows into account that another has sketched."""
        if self._rows >= _RECENT_ROWS:
            self._before, self._now, self._rows = self._now, Sketch(), 0
        self._rows += rows
        self._now.merge(sketch)
        self._estimate = None

    @property
    def estimate(self) -> float:
        """How many values there are. Another thread may ask: it changes nothing."""
        if self._estimate is None:
            both = Sketch.load(self._now.dump())
            both.merge(self._before)
            self._estimate = both.estimate
        return self._estimate
