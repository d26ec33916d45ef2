"""The total order of values that SQL sorts by."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any


def value_key(value: Any) -> tuple[Any, ...]:
    """A sort key: NULL first, then values ascending, NaN last.

    >>> sorted([math.nan, 2.0, None, -math.inf], key=value_key)
    [None, -inf, 2.0, nan]
    """
    if value is None:
        return (0,)
    if isinstance(value, float):
        unordered = math.isnan(value)
        return (1, unordered, 0.0 if unordered else value)
    if isinstance(value, tuple):
        return (1, tuple(value_key(part) for part in value))
    return (1, value)


def sorted_by(
    rows: Iterable[tuple[Any, ...]], position: int, descending: bool, nulls_first: bool
) -> list[tuple[Any, ...]]:
    """The rows by one of their values, NULLs where they are wanted; equal ones stay as they are."""
    found = sorted(rows, key=lambda row: value_key(row[position]), reverse=descending)
    nulls = [row for row in found if row[position] is None]
    others = [row for row in found if row[position] is not None]
    return nulls + others if nulls_first else others + nulls
