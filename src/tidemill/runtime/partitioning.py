"""Dealing rows out: which partition every row of an exchange goes to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.mechanisms.keys import key_values
from tidemill.runtime.parcels import Parcel
from tidemill.stages import Exchange, Mode


def partitioned(
    rows: pl.DataFrame, exchange: Exchange, here: int, partitions: int, only: int | None = None
) -> Iterator[Parcel]:
    """The rows of an exchange, made in a partition (or by a task of that number), as parcels.

    Where a row goes follows from its values and from where it was made, so that a task that is
    done again sends the same. Those for other partitions than `only` are left out.
    """
    targets = range(partitions) if only is None else range(only, only + 1)
    if not rows.height:
        return
    if partitions == 1:
        yield Parcel(0, exchange.tag, rows)
    elif exchange.mode is Mode.BROADCAST:
        yield from (Parcel(target, exchange.tag, rows) for target in targets)
    elif exchange.mode is Mode.SINGLE:
        yield from (Parcel(0, exchange.tag, rows) for target in targets if target == 0)
    elif exchange.mode is Mode.SPREAD:
        yield from _spread(rows, exchange.tag, here, partitions, targets)
    elif exchange.mode in (Mode.KEEP, Mode.NOW) and (exchange.made_at or exchange.is_result):
        yield Parcel(here, exchange.tag, rows)
    else:
        yield from _apart(rows, exchange.tag, _places(rows, exchange, partitions), targets)


def _places(rows: pl.DataFrame, exchange: Exchange, partitions: int) -> Ints:
    if exchange.mode is Mode.GIVEN:
        given: Ints = rows[exchange.keys[0]].to_numpy()
        return given % partitions
    names = exchange.keys if exchange.mode is Mode.HASH else exchange.schema.names
    return partition_of(rows, names, partitions)


def partition_of(rows: pl.DataFrame, names: Sequence[str], partitions: int) -> Ints:
    """The partition of every row, by the values of some columns.

    >>> partition_of(pl.DataFrame({"a": [1, 1]}), ["a", "a"], 1).tolist()
    [0, 0]
    """
    # (A column may be compared with several others, and so occur more than once.)
    keys = key_values(rows, names or rows.columns[:1])
    hashes = keys.hash_rows(seed=0).to_numpy()
    if partitions & (partitions - 1):
        hashes = hashes % np.uint64(partitions)
    else:
        hashes = hashes & np.uint64(partitions - 1)  # the same, in a tenth of the time
    return hashes.view(np.int64)


def _apart(rows: pl.DataFrame, tag: int, places: Ints, targets: range) -> Iterator[Parcel]:
    for target in targets:
        mine = places == target
        if mine.any():
            yield Parcel(target, tag, rows if mine.all() else rows.filter(mine))


def _spread(
    rows: pl.DataFrame, tag: int, here: int, partitions: int, targets: range
) -> Iterator[Parcel]:
    """As many rows to everyone; tasks begin at different ones, for some have few rows."""
    size = -(-rows.height // partitions)
    for number, first in enumerate(range(0, rows.height, size)):
        target = (here + number) % partitions
        if target in targets:
            yield Parcel(target, tag, rows.slice(first, size))
