"""The order of rows: by sort keys, then by the row itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import total_ordering
from typing import Any

import polars as pl

from tidemill.algebra.nodes import SortKey

Rank = tuple[Any, ...]
"""Compares as the rows are to be ordered."""


@total_ordering
class _Reversed:
    """A value that sorts the other way round."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Reversed) and bool(self.value == other.value)

    def __lt__(self, other: _Reversed) -> bool:
        return bool(other.value < self.value)


def rank_keys(rows: pl.DataFrame, order: Sequence[SortKey]) -> list[Rank]:
    """For every row something that sorts as the row should.

    >>> rows = pl.DataFrame({"a": [1, None, 3]})
    >>> ranks = rank_keys(rows, [SortKey("a", descending=True, nulls_first=False)])
    >>> sorted(range(3), key=ranks.__getitem__)
    [2, 0, 1]
    """
    keys = [_column_keys(rows[key.column], key.descending, key.nulls_first) for key in order]
    ties = [_column_keys(column, descending=False, nulls_first=True) for column in rows]
    return list(zip(*keys, *ties, strict=True)) if rows.width else [()] * rows.height


def _column_keys(column: pl.Series, descending: bool, nulls_first: bool) -> list[Any]:
    null = (0,) if nulls_first else (2,)
    return [null if v is None else (1, _key(v, descending)) for v in column.to_list()]


def _key(value: Any, descending: bool) -> Any:
    if isinstance(value, float):
        # NaN is the largest number; it must not be compared.
        value = (1, 0.0) if value != value else (0, value + 0.0)
    elif isinstance(value, dict):
        value = tuple(_nullable(part) for part in value.values())
    elif isinstance(value, list):
        value = tuple(_nullable(part) for part in value)
    return _Reversed(value) if descending else value


def _nullable(value: Any) -> Any:
    return (0,) if value is None else (1, _key(value, descending=False))
