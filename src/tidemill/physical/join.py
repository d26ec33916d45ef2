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
from tidemill.physical.arrays import Array, Ints, ranges
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

_MOST_PAIRS = 2_000_000  # looked at together; bounds the memory of a join with many matches


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
    """Rows of one side, in the order of their hashes."""

    hashes: Array
    batch: pl.DataFrame
    last_end: int

    def __len__(self) -> int:
        return len(self.hashes)

    @staticmethod
    def of(hashes: Array, batch: pl.DataFrame) -> _Run:
        order = np.argsort(hashes, kind="stable")
        last_end = int(ends(batch).max()) if len(hashes) else 0
        return _Run(hashes[order], batch[order], last_end)

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
            self.runs.append(run)
        while len(self.runs) > 1 and len(self.runs[-1]) * 2 >= len(self.runs[-2]):
            last, before = self.runs.pop(), self.runs.pop()
            batch = pl.concat([before.batch, last.batch])
            alive = ends(batch) > expired
            hashes = np.concatenate([before.hashes, last.hashes])[alive]
            self.runs.append(_Run.of(hashes, batch.filter(alive)))

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
        found = [self._match(old, right) for old in self._left.runs]
        found += [self._match(left, run) for run in (*self._right.runs, right)]
        self._left.keep(left, watermarks[1])
        self._right.keep(right, watermarks[0])
        full = [batch for batch in found if batch.height]
        return (pl.concat(full) if full else self._empty), min(watermarks)

    def _match(self, left: _Run, right: _Run) -> pl.DataFrame:
        if len(left) == 0 or len(right) == 0:
            return self._empty
        parts = [self._joined(left, right, *pairs) for pairs in _candidates(left, right)]
        return pl.concat(parts) if parts else self._empty

    def _joined(self, left: _Run, right: _Run, at_left: Ints, at_right: Ints) -> pl.DataFrame:
        """The pairs that overlap and match; a residual is asked only of pairs that meet."""
        start = np.maximum(starts(left.batch)[at_left], starts(right.batch)[at_right])
        end = np.minimum(ends(left.batch)[at_left], ends(right.batch)[at_right])
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


def _candidates(left: _Run, right: _Run) -> Iterator[tuple[Ints, Ints]]:
    """Pairs of rows with equal hashes, in blocks of bounded size."""
    low = np.searchsorted(right.hashes, left.hashes, side="left")
    count = np.searchsorted(right.hashes, left.hashes, side="right") - low
    rows = np.flatnonzero(count)
    low, count = low[rows], count[rows]
    block = (np.cumsum(count) - 1) // _MOST_PAIRS
    for number in np.unique(block).tolist():
        here = block == number
        yield np.repeat(rows[here], count[here]), ranges(low[here], count[here])
