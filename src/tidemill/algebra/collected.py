"""Aggregates that look at all values of a group together: lists, quantiles, the value at a maximum.

Each is a function of a multiset, so its answer cannot depend on the order in which rows came: lists
are sorted, and among equals the smallest value counts. Values of several columns come as tuples.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from tidemill.algebra.order import sorted_by, value_key

Values = list[Any]
Options = tuple[Any, ...]


def collect_list(values: Values, options: Options) -> list[Any]:
    """All values; `options` are the directions of ORDER BY, whose keys follow each value.

    >>> collect_list([3, 1, 2], ())
    [1, 2, 3]
    >>> collect_list([("a", 1), ("b", 2)], ((True, False),))
    ['b', 'a']
    """
    if not options:
        return sorted(values, key=value_key)
    rows = sorted(values, key=value_key)
    # Sorting is stable: the last key goes first, and the order of the values is left for ties.
    for number, (descending, nulls_first) in reversed(list(enumerate(options, 1))):
        rows = sorted_by(rows, number, descending, nulls_first)
    return [row[0] for row in rows]


def string_agg(values: Values, options: Options) -> str:
    """The texts in one, with a separator between them.

    >>> string_agg(["b", "a"], (", ",))
    'a, b'
    """
    separator, *directions = options
    return str(separator).join(collect_list(values, tuple(directions)))


def percentile(values: Values, options: Options) -> Any:
    """The value below which a share of the values lies, between two of them if need be.

    >>> percentile([1, 2, 3, 4], (0.5,))
    2.5
    >>> percentile([1, 2], ((0.0, 1.0),))
    [1.0, 2.0]
    """
    ordered = sorted((float(value) for value in values), key=value_key)
    return _each(options[0], lambda share: _between(ordered, share))


def _between(ordered: Sequence[float], share: float) -> float:
    position = share * (len(ordered) - 1)
    low, high = math.floor(position), math.ceil(position)
    if low == high or ordered[low] == ordered[high]:
        return ordered[low]
    return (high - position) * ordered[low] + (position - low) * ordered[high]


def percentile_disc(values: Values, options: Options) -> Any:
    """The first value that, with those before it, makes up a share of all.

    >>> percentile_disc([1, 2, 3, 4], (0.5, False))
    2
    """
    shares, descending = options
    ordered = sorted(values, key=value_key, reverse=descending)
    return _each(shares, lambda share: ordered[max(math.ceil(share * len(ordered)) - 1, 0)])


def _each(shares: float | tuple[float, ...], answer: Callable[[float], Any]) -> Any:
    if isinstance(shares, tuple):
        return [answer(share) for share in shares]
    return answer(shares)


def mode(values: Values, options: Options) -> Any:
    """The most frequent value.

    >>> mode([2, 1, 2, 1, 3], ())
    1
    """
    counts = Counter(map(_hashable, values))
    most = max(counts.values())
    return min((value for value, count in counts.items() if count == most), key=value_key)


def _hashable(value: Any) -> Any:
    """One key for all NaN, which are the same value and unequal in Python."""
    return math.nan if isinstance(value, float) and math.isnan(value) else value


def min_by(values: Values, options: Options) -> Any:
    """The value beside the smallest key.

    >>> min_by([("a", 2), ("b", 1)], ())
    'b'
    """
    return min(values, key=lambda pair: (value_key(pair[1]), value_key(pair[0])))[0]


def max_by(values: Values, options: Options) -> Any:
    """The value beside the largest key."""
    most = max(value_key(pair[1]) for pair in values)
    return min((v for v, key in values if value_key(key) == most), key=value_key)


COLLECTED: Final[dict[str, Callable[[Values, Options], Any]]] = {
    "COLLECT_LIST": collect_list,
    "STRING_AGG": string_agg,
    "PERCENTILE": percentile,
    "PERCENTILE_DISC": percentile_disc,
    "MODE": mode,
    "MIN_BY": min_by,
    "MAX_BY": max_by,
}
"""The functions of at least one value, none of them NULL, and of the options of the call."""
