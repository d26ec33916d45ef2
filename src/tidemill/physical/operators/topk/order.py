"""The order of rows, by sort keys and then by the row itself, as whole numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from tidemill.algebra.nodes import SortKey
from tidemill.physical.mechanisms.arrays import Ints, ordered_bits
from tidemill.physical.operators.topk.labels import Labels

_NULL = np.iinfo(np.int64).max - 1  # or the number that is as far below zero, to be first
_FULL = (pl.Int64(), pl.Datetime("us"), pl.Duration("us"))  # their values may need all bits


class RowOrder:
    """For every row levels: the numbers of the first level decide, then those of the next.

    The levels of a row stay valid until `renewals` changes.

    >>> rows = pl.DataFrame({"a": [1, None, 3]})
    >>> order = RowOrder(rows, [SortKey("a", descending=True, nulls_first=False)])
    >>> order.levels(rows)[:, 0].argsort().tolist()
    [2, 0, 1]
    """

    STATE = ("_columns",)

    def __init__(self, empty: pl.DataFrame, order: Sequence[SortKey]) -> None:
        keys = {key.column: key for key in reversed(order)}
        first = list(dict.fromkeys(key.column for key in order))
        names = first + [name for name in empty.columns if name not in keys]
        ordered = [keys.get(name, SortKey(name)) for name in names]
        self._columns = [
            _Column(key, empty.schema[key.column])
            for key in ordered
            if empty.schema[key.column] != pl.Null
        ]
        self.depth = self.levels(empty.clear()).shape[1]

    def levels(self, rows: pl.DataFrame) -> Ints:
        """The levels of rows; none is as small or as large as a number can be."""
        levels = [level for column in self._columns for level in column.levels(rows)]
        return np.stack(levels or [np.zeros(rows.height, np.int64)], axis=1)

    @property
    def renewals(self) -> int:
        """How often the levels of rows have changed that were asked for before."""
        return sum(column.labels.renewals for column in self._columns if column.labels)

    @property
    def nbytes(self) -> int:
        return sum(column.labels.nbytes for column in self._columns if column.labels)


class _Column:
    """The levels of one column."""

    STATE = ("labels",)

    def __init__(self, key: SortKey, dtype: pl.DataType) -> None:
        self._key = key
        self.labels = None if _is_number(dtype) else Labels(dtype)
        self._is_full = dtype in _FULL

    def levels(self, rows: pl.DataFrame) -> list[Ints]:
        column = rows[self._key.column]
        values = self.labels.of(column) if self.labels else numbers(column)
        values = ~values if self._key.descending else values
        level = values.clip(1 - _NULL, _NULL - 1)
        rest = [values - level] if self._is_full else []
        level[column.is_null().to_numpy()] = -_NULL if self._key.nulls_first else _NULL
        return [level, *rest]


def _is_number(dtype: pl.DataType) -> bool:
    if isinstance(dtype, pl.Decimal):
        return dtype.precision is not None and dtype.precision <= 18
    return dtype.is_numeric() or dtype.is_temporal() or dtype == pl.Boolean


def numbers(column: pl.Series) -> Ints:
    """Whole numbers that sort as the numbers of a column; zero where it is NULL.

    >>> numbers(pl.Series([True, None, False])).tolist()
    [1, 0, 0]
    """
    if column.dtype.is_float():
        return ordered_bits(column.cast(pl.Float64).fill_null(0.0).to_numpy())
    return column.to_physical().cast(pl.Int64).fill_null(0).to_numpy()
