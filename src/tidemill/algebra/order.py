"""The total order of values that SQL sorts by."""

from __future__ import annotations

import math
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
