"""The order of the rows of partitions, and which of them are equal in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from tidemill.algebra.nodes import SortKey
from tidemill.algebra.order import value_key
from tidemill.physical.mechanisms.arrays import Bools, Ints
from tidemill.physical.mechanisms.keys import canonical

_PARTITION = "#partition"


def row_order(slots: Ints, rows: pl.DataFrame, order: Sequence[SortKey]) -> Ints:
    """Positions that sort rows by partition, then by the sort keys, then by the row itself.

    >>> rows = pl.DataFrame({"a": [2, None, 1]})
    >>> row_order(np.zeros(3, np.int64), rows, [SortKey("a", descending=True)]).tolist()
    [1, 0, 2]
    """
    keyed = {key.column for key in order}
    keys = [*order, *(SortKey(name) for name in rows.columns if name not in keyed)]
    keys = [key for key in keys if rows.schema[key.column] != pl.Null]
    columns = [_sortable(rows[key.column]).alias(str(n)) for n, key in enumerate(keys)]
    frame = pl.DataFrame([pl.Series(_PARTITION, slots), *columns])
    found = frame.select(
        pl.arg_sort_by(
            frame.columns,
            descending=[False, *(key.descending for key in keys)],
            nulls_last=[False, *(not key.nulls_first for key in keys)],
        )
    )
    return found.to_series().to_numpy().astype(np.int64)


def _sortable(column: pl.Series) -> pl.Series:
    """A column that Polars can sort as SQL does: lists and structs by their places."""
    if not column.dtype.is_nested():
        return canonical(column.to_frame()).to_series()
    values = [_tuple(value) for value in column.to_list()]
    known = {key: n for n, key in enumerate(sorted({value_key(v) for v in values}))}
    places = [None if value is None else known[value_key(value)] for value in values]
    return pl.Series(places, dtype=pl.Int64)


def _tuple(value: object) -> object:
    if isinstance(value, dict):
        return tuple(_tuple(part) for part in value.values())
    return tuple(map(_tuple, value)) if isinstance(value, list) else value


def new_peers(slots: Ints, rows: pl.DataFrame, order: Sequence[SortKey]) -> Bools:
    """Of sorted rows those that differ from the one before in partition or sort keys."""
    new = np.ones(len(slots), dtype=np.bool_)
    new[1:] = slots[1:] != slots[:-1]
    for key in order:
        column = canonical(rows[key.column].to_frame()).to_series()
        new[1:] |= column[1:].ne_missing(column[:-1]).to_numpy()
    return new
