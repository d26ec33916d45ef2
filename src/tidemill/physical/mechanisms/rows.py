"""An append-only store of rows, addressed by their number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from tidemill.physical.mechanisms.arrays import Bools, Ints


class RowStore:
    """Rows in a few chunks of growing size, so that adding costs O(log n) copies a row."""

    STATE = ("_empty", "_chunks", "_length")

    def __init__(self, empty: pl.DataFrame) -> None:
        self._empty = empty.clear()
        self._chunks: list[pl.DataFrame] = []
        self._length = 0

    @property
    def columns(self) -> list[str]:
        return self._empty.columns

    def __len__(self) -> int:
        return self._length

    def append(self, rows: pl.DataFrame) -> None:
        """Add rows; they are numbered on from the last one."""
        if rows.height == 0:
            return
        self._chunks.append(rows)
        self._length += rows.height
        while len(self._chunks) > 1 and self._chunks[-1].height * 4 >= self._chunks[-2].height:
            last = self._chunks.pop()
            self._chunks[-1] = pl.concat([self._chunks[-1], last], rechunk=True)

    def take(self, numbers: Ints, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """The rows of these numbers, in this order; all columns or some."""
        if len(numbers) == 0:
            return self._empty if columns is None else self._empty.select(columns)
        if len(self._chunks) == 1:
            chunk = self._chunks[0]
            return (chunk if columns is None else chunk.select(columns))[numbers]
        columns = self.columns if columns is None else columns
        ends = np.cumsum([chunk.height for chunk in self._chunks])
        chunk_of = np.searchsorted(ends, numbers, side="right").astype(np.uint16)
        order = np.argsort(chunk_of, kind="stable")
        bounds = np.cumsum(np.bincount(chunk_of, minlength=len(ends)))[:-1]
        pieces = np.split(numbers[order], bounds)
        parts = [
            chunk.select(columns)[piece - (end - chunk.height)]
            for chunk, piece, end in zip(self._chunks, pieces, ends.tolist(), strict=True)
        ]
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        rows: pl.DataFrame = pl.concat(parts, rechunk=True)[back]
        return rows

    def keep(self, kept: Bools) -> None:
        """Forget all other rows and number the kept ones anew, in their order."""
        rows = self.take(np.flatnonzero(kept))
        self._chunks = [rows] if rows.height else []
        self._length = rows.height

    @property
    def nbytes(self) -> int:
        return sum(int(chunk.estimated_size()) for chunk in self._chunks)
