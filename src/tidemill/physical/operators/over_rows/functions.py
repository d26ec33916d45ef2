"""The values of functions over rows, for many versions of partitions at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, Final

import numpy as np
import polars as pl
import pyarrow as pa

from tidemill.algebra.aggregates import AggregateCall
from tidemill.algebra.collected import COLLECTED
from tidemill.algebra.over_rows import RANKS, SHIFTS, OverCall
from tidemill.deadline import look
from tidemill.errors import ExecutionError
from tidemill.physical.mechanisms.arrays import Array, Bools, Ints
from tidemill.physical.operators.aggregate.accumulators import ROWS, accumulator
from tidemill.physical.operators.aggregate.calls import as_tuple
from tidemill.physical.operators.over_rows.frames import SortedVersions

Columns = Callable[[str], pl.Series]
"""The values of a column for every row of the versions."""


def values_of(call: OverCall, rows: SortedVersions, columns: Columns) -> pl.Series:
    """The values of one function, row by row."""
    if call.function in RANKS:
        return pl.Series(_place(call, rows)).cast(_dtype(call.type))
    if call.function in SHIFTS:
        return _shifted(call, rows, columns)
    low, high = rows.frame(call.frame)
    if call.aggregate is not None:
        return aggregated(call.aggregate, low, high, columns)
    return _picked(call, low, high, columns)


def _place(call: OverCall, rows: SortedVersions) -> Array:
    first, last = rows.bounds
    peers, behind = rows.peer_bounds
    size = last - first
    match call.function:
        case "ROW_NUMBER":
            return rows.here - first + 1
        case "RANK":
            return peers - first + 1
        case "DENSE_RANK":
            return rows.group - rows.group[first] + 1
        case "PERCENT_RANK":
            shares: Array = (peers - first) / np.maximum(size - 1, 1)
            return shares
        case "CUME_DIST":
            return (behind - first) / size
    return _bucket(rows.here - first, size, call.options[0])


def _bucket(at: Ints, size: Ints, buckets: int) -> Ints:
    """NTILE: the first buckets get one row more, if they cannot all be of one size."""
    small, larger = size // buckets, size % buckets
    in_larger = larger * (small + 1)
    return (
        np.where(
            at < in_larger,
            at // (small + 1),
            larger + (at - in_larger) // np.maximum(small, 1),
        )
        + 1
    )


def _shifted(call: OverCall, rows: SortedVersions, columns: Columns) -> pl.Series:
    """LAG and LEAD."""
    values, *default = (columns(name) for name in call.arguments)
    first, last = rows.bounds
    distance = call.options[0] * (-1 if call.function == "LAG" else 1)
    if call.ignores_nulls and distance:
        at, there = _among_known(values, rows, distance)
    else:
        at = rows.here + np.clip(distance, -len(rows), len(rows))
        there = np.ones(len(rows), dtype=np.bool_)
    there = there & (at >= first) & (at < last)
    found = _taken(values, at, there)
    return found if not default else found.zip_with(pl.Series(there), default[0].cast(found.dtype))


def _among_known(values: pl.Series, rows: SortedVersions, distance: int) -> tuple[Ints, Bools]:
    """The place of the value at a distance, NULLs not counted, and whether it exists."""
    known = values.is_not_null().to_numpy()
    places, before = np.flatnonzero(known), np.cumsum(known)
    behind = distance > 0
    number = before + distance - 1 if behind else before - known + distance
    there = (number >= 0) & (number < len(places))
    if not len(places):
        return np.zeros(len(rows), np.int64), there
    return places[np.clip(number, 0, len(places) - 1)], there


def _picked(call: OverCall, low: Ints, high: Ints, columns: Columns) -> pl.Series:
    """FIRST_VALUE, LAST_VALUE and NTH_VALUE."""
    values = columns(call.arguments[0])
    places = np.arange(len(values), dtype=np.int64)
    if call.ignores_nulls:
        known = values.is_not_null().to_numpy()
        places, before = np.flatnonzero(known), np.concatenate([[0], np.cumsum(known)])
        low, high = before[low], before[high]
    if call.function == "LAST_VALUE":
        at = high - 1
    else:
        at = low + (call.options[0] - 1 if call.function == "NTH_VALUE" else 0)
    there = (at >= low) & (at < high)
    if not len(places):
        return _taken(values, np.zeros(len(low), np.int64), np.zeros(len(low), np.bool_))
    return _taken(values, places[np.clip(at, 0, len(places) - 1)], there)


def _taken(values: pl.Series, at: Ints, there: Bools) -> pl.Series:
    """The values at some places; NULL where there is none."""
    if there.all():
        return values.gather(at)
    return values.gather(pl.Series(np.where(there, at, 0)).set(pl.Series(~there), None))


def aggregated(call: AggregateCall, low: Ints, high: Ints, columns: Columns) -> pl.Series:
    """An aggregate of the rows from `low` to `high`."""
    if call.user is not None or call.function in COLLECTED:
        return _collected(call, low, high, columns(call.argument or ""))
    if call.is_extreme:
        return _extreme(call, low, high, columns(call.argument or ""))
    batch = pl.DataFrame(
        [] if call.argument is None else [columns(call.argument).alias(call.argument)]
    )
    argument = None if call.argument is None else _arrow_type(batch[call.argument])
    found = accumulator(call, argument, "")
    amounts = found.amounts(batch)
    totals = {name: _difference(column, low, high) for name, column in amounts.items()}
    return found.result({ROWS: high - low, **totals}, len(low))


def _difference(amounts: Array, low: Ints, high: Ints) -> Array:
    """The sums over ranges, from running sums."""
    wide = amounts if amounts.dtype == object else amounts.astype(np.int64)
    running = np.concatenate([np.zeros(1, dtype=wide.dtype), np.cumsum(wide)])
    difference: Array = running[high] - running[low]
    return difference


_NOTHING: Final = np.iinfo(np.int64).max


def _extreme(call: AggregateCall, low: Ints, high: Ints, values: pl.Series) -> pl.Series:
    """The smallest or largest value of ranges: that of two blocks that cover each."""
    order = values.arg_sort(descending=call.function == "MAX", nulls_last=True).to_numpy()
    best = np.empty(len(values), dtype=np.int64)
    best[order] = np.arange(len(values))
    best[values.is_null().to_numpy()] = _NOTHING
    length = high - low
    levels = np.frexp(np.maximum(length, 1).astype(np.float64))[1] - 1
    found = np.full(len(low), _NOTHING, dtype=np.int64)
    for level in range(int(levels.max(initial=0)) + 1):
        if level:
            half = 1 << (level - 1)
            best = np.minimum(best[:-half], best[half:])
        mine = np.flatnonzero((levels == level) & (length > 0))
        found[mine] = np.minimum(best[low[mine]], best[high[mine] - (1 << level)])
    there = found != _NOTHING
    return _taken(values, order[np.where(there, found, 0)], there)


def _collected(call: AggregateCall, low: Ints, high: Ints, values: pl.Series) -> pl.Series:
    """Lists, quantiles and users' aggregates: each range once."""
    whole = [as_tuple(value) for value in values.to_list()]
    known: dict[tuple[int, int], Any] = {}
    for bounds in zip(low.tolist(), high.tolist(), strict=True):
        if bounds not in known:
            look()
            some = [value for value in whole[slice(*bounds)] if value is not None]
            known[bounds] = _answer(call, some) if some else None
    answers = [known[bounds] for bounds in zip(low.tolist(), high.tolist(), strict=True)]
    return pl.DataFrame(pa.table({"x": pa.array(answers, call.type)})).to_series(0)


def _answer(call: AggregateCall, values: list[Any]) -> Any:
    user = call.user
    if user is None:
        return COLLECTED[call.function](values, call.options)
    try:
        return user.eval(reduce(user.merge, map(user.init, values)))
    except Exception as error:  # whatever the user's functions raise
        raise ExecutionError(f"the aggregate {user.name} failed: {error!r}") from error


def _arrow_type(values: pl.Series) -> pa.DataType:
    found = values.to_arrow().type
    return pa.string() if pa.types.is_large_string(found) else found


def _dtype(data_type: pa.DataType) -> pl.DataType:
    return pl.DataFrame(pa.table({"x": pa.array([], data_type)})).dtypes[0]
