"""Join: pairs of rows that hold together and match."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar
from tidemill.algebra.schema import Schema
from tidemill.expressions import UserFunction, compile_items
from tidemill.physical.arrays import Array, Ints, bisect, ranges, slot_order
from tidemill.physical.keys import canonical, hash_rows, same_rows
from tidemill.physical.operator import (
    Exec,
    Operator,
    empty_batch,
    ends,
    payload,
    starts,
    with_validity,
)
from tidemill.timeline import OPEN_END

_MOST_PAIRS = 2_000_000  # looked at together; bounds the memory of a join with many matches
_LARGEST_HASH = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class JoinKey:
    """Two columns of the same type that must be equal; `null_safe`: NULL equals NULL."""

    left: str
    right: str
    null_safe: bool = False

    def __str__(self) -> str:
        return f"{self.left} {'<=>' if self.null_safe else '='} {self.right}"


@dataclass(frozen=True)
class JoinExec(Exec):
    """Match rows by hash of the keys (without keys: all pairs), then check the residual."""

    left: Plan
    right: Plan
    keys: tuple[JoinKey, ...]
    residual: Scalar | None
    functions: tuple[UserFunction, ...] = ()

    @cached_property
    def schema(self) -> Schema:
        return self.left.schema + self.right.schema

    def details(self) -> str:
        keys = f"keys=[{', '.join(map(str, self.keys))}]" if self.keys else "all pairs"
        return f"{keys} where {self.residual}" if self.residual is not None else keys

    def operator(self) -> Operator:
        return _Join(self)


@dataclass(frozen=True)
class _Run:
    """Rows of one side, by hash and start."""

    hashes: Array
    batch: pl.DataFrame

    def __len__(self) -> int:
        return len(self.hashes)

    @staticmethod
    def of(hashes: Array, batch: pl.DataFrame) -> _Run:
        smallest = hashes.min(initial=_LARGEST_HASH)
        return _Run(hashes, batch).take(slot_order(hashes - smallest, starts(batch)))

    @staticmethod
    def merged(old: _Run, new: _Run) -> _Run:
        hashes = np.concatenate([old.hashes, new.hashes])
        batch = pl.concat([old.batch, new.batch], rechunk=True)
        if old.starts.max(initial=0) > new.starts.min(initial=OPEN_END):
            return _Run.of(hashes, batch)
        # The two parts only have to be merged; a stable sort leaves the starts in order.
        return _Run(hashes, batch).take(np.argsort(hashes, kind="stable"))

    def take(self, rows: Ints) -> _Run:
        return _Run(self.hashes[rows], self.batch[rows])

    def alive(self, expired: int) -> _Run:
        """Without the rows that have ended, if they are the most."""
        rows = np.flatnonzero(self.ends > expired)
        return self.take(rows) if 2 * len(rows) <= len(self) else self

    @property
    def starts(self) -> Ints:
        return starts(self.batch)

    @property
    def ends(self) -> Ints:
        return ends(self.batch)

    @cached_property
    def last_end(self) -> int:
        return int(self.ends.max(initial=0))

    @cached_property
    def longest(self) -> int:
        """How long its rows hold at most."""
        return int((self.ends - self.starts).max(initial=0))

    @cached_property
    def nbytes(self) -> int:
        return int(self.hashes.nbytes + self.batch.estimated_size())


class _Side:
    """The rows of one input that rows of the other may still meet."""

    def __init__(self, keys: list[str], null_safe: list[bool]) -> None:
        self.keys = keys
        self._required = [key for key, safe in zip(keys, null_safe, strict=True) if not safe]
        self.runs: list[_Run] = []

    def arrive(self, batch: pl.DataFrame) -> _Run:
        """New rows, ready to be matched; NULL keys match nothing."""
        if self._required:
            batch = batch.drop_nulls(self._required)
        if not self.keys:
            return _Run.of(np.zeros(batch.height, dtype=np.uint64), batch)
        return _Run.of(hash_rows(self.key_values(batch), 0), batch)

    def key_values(self, batch: pl.DataFrame) -> pl.DataFrame:
        """The key columns by their position, so that both sides name them alike."""
        return canonical(
            pl.DataFrame([batch[key].alias(str(at)) for at, key in enumerate(self.keys)])
        )

    def keep(self, run: _Run, expired: int) -> None:
        """Store new rows; drop what ended before rows of the other side can still start."""
        self.runs = [old for old in self.runs if old.last_end > expired]
        if run.last_end > expired:
            self.runs.append(run.alive(expired))
        while len(self.runs) > 1 and len(self.runs[-1]) * 2 >= len(self.runs[-2]):
            last, before = self.runs.pop(), self.runs.pop()
            self.runs.append(_Run.merged(before.alive(expired), last.alive(expired)))

    @property
    def rows(self) -> int:
        return sum(len(run) for run in self.runs)

    @property
    def nbytes(self) -> int:
        return sum(run.nbytes for run in self.runs)


class _Join(Operator):
    """Every new row meets the rows of the other side: the stored ones and the new ones."""

    def __init__(self, node: JoinExec) -> None:
        safe = [key.null_safe for key in node.keys]
        self._left = _Side([key.left for key in node.keys], safe)
        self._right = _Side([key.right for key in node.keys], safe)
        self._residual = None
        if node.residual is not None:
            functions = {function.name.lower(): function for function in node.functions}
            self._residual = compile_items([("keep", node.residual)], node.schema, functions)
        self._empty = empty_batch(node.schema)

    def step(
        self, inputs: Sequence[pl.DataFrame], watermarks: Sequence[int]
    ) -> tuple[pl.DataFrame, int]:
        left, right = self._left.arrive(inputs[0]), self._right.arrive(inputs[1])
        found = [self._pairs(left, run) for run in (*self._right.runs, right)]
        found += [self._pairs(right, run, swap=True) for run in self._left.runs]
        self._left.keep(left, watermarks[1])
        self._right.keep(right, watermarks[0])
        full = [batch for batch in found if batch.height]
        return (pl.concat(full) if full else self._empty), min(watermarks)

    def _pairs(self, new: _Run, run: _Run, swap: bool = False) -> pl.DataFrame:
        """New rows of the left side (with `swap`, the right) with rows of the other."""
        if len(new) == 0 or len(run) == 0:
            return self._empty
        parts = [
            self._joined(run, new, at_run, at_new)
            if swap
            else self._joined(new, run, at_new, at_run)
            for at_new, at_run in _candidates(new, run)
        ]
        return pl.concat(parts) if parts else self._empty

    def _joined(self, left: _Run, right: _Run, at_left: Ints, at_right: Ints) -> pl.DataFrame:
        """The pairs that overlap and match; a residual is asked only of pairs that meet."""
        start = np.maximum(left.starts[at_left], right.starts[at_right])
        end = np.minimum(left.ends[at_left], right.ends[at_right])
        together = np.flatnonzero(start < end)
        if len(together) == 0:
            return self._empty
        left_rows = payload(left.batch)[at_left[together]]
        right_rows = payload(right.batch)[at_right[together]]
        pairs = pl.concat([left_rows, right_rows], how="horizontal")
        batch = with_validity(pairs, start[together], end[together])
        return self._checked(batch)

    def _checked(self, batch: pl.DataFrame) -> pl.DataFrame:
        if self._left.keys:
            same = same_rows(self._left.key_values(batch), self._right.key_values(batch))
            batch = batch if same.all() else batch.filter(same)
        if self._residual is not None and batch.height:
            batch = batch.filter(self._residual.run(batch)["keep"])
        return batch

    @property
    def state_rows(self) -> int:
        return self._left.rows + self._right.rows

    @property
    def state_bytes(self) -> int:
        return self._left.nbytes + self._right.nbytes


def _candidates(new: _Run, run: _Run) -> Iterator[tuple[Ints, Ints]]:
    """Pairs of rows with equal hashes that may overlap, in blocks of bounded size."""
    low = np.searchsorted(run.hashes, new.hashes, side="left")
    high = np.searchsorted(run.hashes, new.hashes, side="right")
    rows = np.flatnonzero(low < high)
    low, high = low[rows], high[rows]
    if (high - low).sum() > 2 * len(rows):
        # A row that overlaps a new one starts before that one ends, and not longer before its
        # start than rows hold. For the rows of a time window, this is exact.
        low = bisect(run.starts, low, high, new.starts[rows] - run.longest + 1)
        high = bisect(run.starts, low, high, new.ends[rows])
    count = high - low
    block = (np.cumsum(count) - 1) // _MOST_PAIRS
    for number in np.unique(block).tolist():
        here = slice(*np.searchsorted(block, [number, number + 1]))
        yield np.repeat(rows[here], count[here]), ranges(low[here], count[here])
