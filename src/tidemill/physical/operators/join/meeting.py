"""The loop of a join: rows that have the same place in the index and hold at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tidemill.deadline import look
from tidemill.physical.mechanisms.arrays import Array, Ints
from tidemill.physical.mechanisms.compiled import compiled_for, fixed, part
from tidemill.physical.mechanisms.pairs import MOST_PAIRS

_FEWEST = 1024
_MOST_LOOKS = 200_000_000  # pairs that are looked at in one call, which nothing can interrupt
_FEW = 4  # up to this number, rows are compared one by one
_CHEAPER = 8  # how many rows can be put into the table in the time of one search

_HASHES, _NUMBERS = fixed(np.zeros(0, np.uint64)), np.zeros(0, np.int64)
_FIXED = fixed(_NUMBERS)
_NO_HEADS = np.zeros(0, np.int32)

_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2 ** 64 divided by the golden ratio
_HALF = np.uint64(32)


class Wanted(NamedTuple):
    """For what partners are looked: hashes and places (if by key), and when they hold."""

    hashes: Array
    places: Array
    starts: Ints
    ends: Ints


class JoinRows(NamedTuple):
    """Those in which they are looked for."""

    hashes: Array
    places: Array
    starts: Ints
    ends: Ints


class Meetings(NamedTuple):
    """Pairs of rows, by number, and when both hold."""

    found: Ints
    run: Ints
    start: Ints
    end: Ints


def all_meetings(
    wanted: Wanted, rows: JoinRows, longest: int, *, by_key: bool, by_start: bool
) -> Iterator[Meetings]:
    """All pairs, in blocks of bounded size; rows hold no longer than the longest.

    >>> one, two = np.array([7], dtype=np.uint64), np.array([7, 7], dtype=np.uint64)
    >>> wanted = Wanted(one, one, np.array([5]), np.array([9]))
    >>> rows = JoinRows(two, two, np.array([1, 6]), np.array([5, 12]))
    >>> [met] = all_meetings(wanted, rows, 6, by_key=True, by_start=True)
    >>> [column.tolist() for column in met]
    [[0], [1], [6], [9]]
    """
    left, right = Wanted(*map(fixed, wanted)), JoinRows(*map(fixed, rows))
    heads = _heads(right.places, len(wanted.starts)) if by_key else _NO_HEADS
    row, seen = 0, 0
    while row < len(wanted.starts):
        look()
        room = min(MOST_PAIRS, max(_FEWEST, 2 * (len(wanted.starts) - row)))
        met = Meetings(*(np.empty(room, dtype=np.int64) for _ in range(4)))
        row, seen, count = meet(left, right, heads, longest, by_key, by_start, row, seen, met)
        if count:
            yield Meetings(*(column[:count] for column in met))


def _heads(places: Array, searches: int) -> Array:
    """A table of the first rows at each place, if there are enough searches for it to pay."""
    if searches * _CHEAPER < len(places):
        return _NO_HEADS
    heads = np.full(1 << (2 * len(places)).bit_length(), -1, dtype=np.int32)
    note_heads(places, heads)
    return heads


@part
def _head(places: Array, heads: Array, place: np.uint64) -> np.uint64:
    """The cell with the first row at a place, or the free one where it would be."""
    last = np.uint64(len(heads) - 1)
    mixed = (place ^ (place >> _HALF)) * _MIX
    cell = (mixed >> _HALF) & last
    while heads[cell] >= 0 and places[heads[cell]] != place:
        cell = (cell + np.uint64(1)) & last
    return cell


@compiled_for(_HASHES, _NO_HEADS)
def note_heads(places: Array, heads: Array) -> None:
    """Fill in the table."""
    for row in range(len(places)):
        if row == 0 or places[row] != places[row - 1]:
            heads[_head(places, heads, places[row])] = row


@part
def _first(values: Array, low: int, high: int, bound: int) -> int:
    """In sorted values, from low to high, the first position not below the bound."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < bound:
            low = middle + 1
        else:
            high = middle
    return low


@part
def _end_of_run(values: Array, at: int, value: int) -> int:
    """Behind the last of equal values that are at a position, if they are there."""
    step = 1
    while at + step <= len(values) and values[at + step - 1] == value:
        at += step
        step *= 2
    high = min(at + step, len(values))
    while at < high:
        middle = (at + high) >> 1
        if values[middle] == value:
            at = middle + 1
        else:
            high = middle
    return at


@compiled_for(
    Wanted(_HASHES, _HASHES, _FIXED, _FIXED),
    JoinRows(_HASHES, _HASHES, _FIXED, _FIXED),
    _NO_HEADS,
    0,
    True,
    True,
    0,
    0,
    Meetings(*[_NUMBERS] * 4),
)
def meet(
    wanted: Wanted,
    rows: JoinRows,
    heads: Array,
    longest: int,
    by_key: bool,
    by_start: bool,
    row: int,
    seen: int,
    out: Meetings,
) -> tuple[int, int, int]:
    """Fill in pairs, from a wanted row on; rows before `seen` have met that one.

    Where it ends for want of room, or after many looks, and how many pairs there are.
    """
    count, looks = 0, 0
    for number in range(row, len(wanted.starts)):
        if looks > _MOST_LOOKS:
            return number, 0, count
        start, end = wanted.starts[number], wanted.ends[number]
        first, stop = 0, len(rows.starts)
        if by_key:
            place = wanted.places[number]
            if len(heads):
                first = heads[_head(rows.places, heads, place)]
            else:
                first = _first(rows.places, 0, stop, place)
            stop = _end_of_run(rows.places, first, place) if first >= 0 else first
        if by_start and stop - first > _FEW:
            # A row that overlaps another starts before that one ends, and not longer before its
            # start than rows hold. For the rows of a time window, this is exact.
            first = _first(rows.starts, first, stop, start - longest + 1)
            stop = _first(rows.starts, first, stop, end)
        looks += max(stop - first, 0)
        for at in range(max(first, seen), stop):
            begin, close = max(start, rows.starts[at]), min(end, rows.ends[at])
            if begin < close and (not by_key or rows.hashes[at] == wanted.hashes[number]):
                if count == len(out.found):
                    return number, at, count
                out.found[count], out.run[count] = number, at
                out.start[count], out.end[count] = begin, close
                count += 1
        seen = 0
    return len(wanted.starts), 0, count
