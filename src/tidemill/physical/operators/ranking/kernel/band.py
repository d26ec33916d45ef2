"""The instances whose current scores are among the k largest of all that are not older.

To know whether k objects have later instances with scores above a bound, no others need to be
looked at. They come in blocks; one that has nothing above the bound is passed over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.mechanisms.compiled import part
from tidemill.physical.operators.ranking.kernel.dominance import offer

_BLOCK = 64
_SLACK = 4 * _BLOCK
LOWEST = np.iinfo(np.int64).min


class Band(NamedTuple):
    """Instances as they came, mostly; the compiled part changes the arrays in place."""

    row: Ints  # with which it begins
    age: Ints  # the number of that row in time
    place: Ints
    item: Ints
    key: Ints  # of the current score
    later: Ints  # the key of the object's next instance
    tops: Ints  # the largest key of a block
    lasts: Ints  # the latest place of a block
    at: Ints  # by row: where the instance is, or -1
    heap: Ints
    keys: Ints  # by item
    where: Ints  # by item
    size: Ints  # how many there are; after the last time that others were dropped


def empty_band(rows: int, room: int, items: int, limit: int) -> Band:
    """A band with room for the instances of a number of rows and items."""
    blocks, limit = room // _BLOCK + 1, min(limit, items + 1)
    lengths = (room, room, room, room, room, room, blocks, blocks, rows, limit, items, items, 2)
    band = Band(*(np.empty(length, np.int64) for length in lengths))
    band.at[:], band.where[:], band.size[:] = -1, -1, 0
    return band


@part
def is_dominated(band: Band, place: int, key: int) -> bool:
    """Whether k objects have instances behind a place whose keys are larger."""
    count = 0
    for first in range(0, band.size[0], _BLOCK):
        block = first // _BLOCK
        if band.tops[block] <= key or band.lasts[block] <= place:
            continue
        end = min(first + _BLOCK, band.size[0])
        places, keys, later = band.place[first:end], band.key[first:end], band.later[first:end]
        for n in range(len(places)):
            # Of the instances of an object that are larger, the last one counts.
            count += (places[n] > place) & (keys[n] > key) & (later[n] <= key)
        if count >= len(band.heap):
            return True
    return False


@part
def note(band: Band, n: int, is_new: bool) -> None:
    """Let the block know of an instance; the first new one opens it."""
    block = n // _BLOCK
    if is_new and n % _BLOCK == 0:
        band.tops[block], band.lasts[block] = band.key[n], band.place[n]
    band.tops[block] = max(band.tops[block], band.key[n])
    band.lasts[block] = max(band.lasts[block], band.place[n])


@part
def insert(band: Band, row: int, age: int, place: int, item: int, key: int, later: int) -> None:
    """Take an instance in."""
    if band.size[0] > 2 * band.size[1] + _SLACK:
        shrink(band)
    n = band.size[0]
    band.row[n], band.age[n], band.place[n] = row, age, place
    band.item[n], band.key[n], band.later[n] = item, key, later
    band.at[row] = n
    band.size[0] += 1
    note(band, n, True)


@part
def move(band: Band, source: int, target: int) -> None:
    """Put an instance at another position."""
    band.row[target], band.age[target] = band.row[source], band.age[source]
    band.place[target], band.item[target] = band.place[source], band.item[source]
    band.key[target], band.later[target] = band.key[source], band.later[source]


@part
def sort(band: Band) -> None:
    """The oldest first. Few are out of order; the last position is a spare one."""
    spare = len(band.row) - 1
    for n in range(1, band.size[0]):
        if band.age[n - 1] <= band.age[n]:
            continue
        move(band, n, spare)
        to = n
        while to > 0 and band.age[to - 1] > band.age[spare]:
            move(band, to - 1, to)
            to -= 1
        move(band, spare, to)


@part
def shrink(band: Band) -> None:
    """Drop the instances for which there are k objects with later and larger ones."""
    sort(band)
    size, heap = 0, band.heap
    for n in range(band.size[0] - 1, -1, -1):
        band.at[band.row[n]] = -1
        if size == len(heap) and band.keys[heap[0]] > band.key[n]:
            band.age[n] = -1
        size = offer(heap, size, band.item[n], band.key[n], band.keys, band.where)
    for n in range(size):
        band.where[heap[n]] = -1
    kept = 0
    for n in range(band.size[0]):
        if band.age[n] >= 0:
            move(band, n, kept)
            band.at[band.row[kept]] = kept
            note(band, kept, True)
            kept += 1
    band.size[:] = kept
