"""Partial sums of doubles and decimals as a column of bytes (`algebra.exact_sums`), and back."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
import pyarrow as pa

from tidemill.algebra.exact_sums import DOWN, NAN, NEGATIVE, PLACES, UP, ExactSum
from tidemill.physical.mechanisms.arrays import Array, Bools, Ints
from tidemill.physical.mechanisms.compiled import compiled_for, fixed
from tidemill.physical.operators.aggregate.sums import Digits, magnitudes

FLAGS = {"nan": NAN, "inf": UP, "-inf": DOWN}
"""What may be in a sum of doubles beside finite ones, by the name of its count."""

_WORD = np.dtype("<u4")


def column_of(digits: Mapping[int, Array], flags: Mapping[str, Array], missing: Bools) -> pl.Series:
    """The bytes of sums: digits as in `sums`, and how many of each flag they have.

    >>> column_of({1: np.array([-5])}, {}, np.array([False])).to_list()[0].hex()
    '0100010005000000'
    """
    size = len(missing)
    negative, columns, lowest = magnitudes(digits or {0: np.zeros(size, dtype=np.int64)}, size)
    words = np.zeros((size, len(columns) + 1), dtype=_WORD)
    words[:, 1:] = np.stack(columns, axis=1)
    first, last = _ends(words[:, 1:] != 0)
    head = np.where(last > 0, lowest + first, 0) | np.where(negative, NEGATIVE, 0)
    for name, counts in flags.items():
        head |= np.where(counts > 0, FLAGS[name], 0)
    words[:, 0] = head
    at = np.arange(len(columns))
    kept = np.ones(words.shape, dtype=np.bool_)
    kept[:, 1:] = (at >= first[:, None]) & (at < last[:, None])
    return _packed(words[kept], kept.sum(axis=1), missing)


def _ends(present: Array) -> tuple[Ints, Ints]:
    """By row, where the first digit is, and where the digits end; 0 and 0 if there are none."""
    some = present.any(axis=1)
    first = present.argmax(axis=1)
    last = np.where(some, present.shape[1] - present[:, ::-1].argmax(axis=1), 0)
    return first, last


def _packed(words: Array, counts: Ints, missing: Bools) -> pl.Series:
    offsets = np.concatenate([[0], np.cumsum(counts * _WORD.itemsize)])
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(words.tobytes())]
    series = pl.Series(pa.Array.from_buffers(pa.large_binary(), len(counts), buffers))
    return series.set(pl.Series(missing), None) if missing.any() else series


def digits_of(partial: pl.Series) -> tuple[Digits, dict[str, Ints]]:
    """The digits of partial sums, and which of them have which flag; NULL counts as 0.

    >>> digits, flags = digits_of(column_of({1: np.array([-5])}, {}, np.array([False])))
    >>> {place: digit.tolist() for place, digit in digits.items()}
    {1: [-5]}
    """
    offsets, words = _unpacked(partial)
    counts = np.diff(offsets)
    rows = np.flatnonzero(counts)
    head = words[offsets[:-1][rows]].astype(np.int64)
    present = np.bitwise_or.reduce(head, initial=0)
    flags = {}
    for name, flag in FLAGS.items():
        if present & flag:
            flags[name] = np.zeros(len(counts), dtype=np.int64)
            flags[name][rows] = (head & flag) != 0
    return _digits(words, offsets, rows, head), flags


def _digits(words: Array, offsets: Ints, rows: Ints, head: Ints) -> Digits:
    """Every word but the heads, at its row and place."""
    if not len(rows):
        return {}
    place = head & PLACES
    lowest = int(place.min())
    beyond = int((place + np.diff(offsets)[rows]).max()) - 1
    digits = np.zeros((beyond - lowest, len(offsets) - 1), dtype=np.int64)
    spread(fixed(words), fixed(offsets), lowest, digits)
    return dict(enumerate(digits, lowest))


@compiled_for(
    fixed(np.zeros(0, _WORD)), fixed(np.zeros(0, np.int64)), 0, np.zeros((0, 0), np.int64)
)
def spread(words: Array, offsets: Ints, lowest: int, digits: Array) -> None:
    """Write the digits of every row to their places."""
    for row in range(len(offsets) - 1):
        begin, end = offsets[row], offsets[row + 1]
        if begin < end:
            head = np.int64(words[begin])
            sign = -1 if head & NEGATIVE else 1
            first = (head & PLACES) - lowest - begin - 1
            for at in range(begin + 1, end):
                digits[first + at, row] = sign * np.int64(words[at])


def _unpacked(partial: pl.Series) -> tuple[Ints, Array]:
    """Where the words of each row begin and end, and all words."""
    array = partial.fill_null(b"").rechunk().to_arrow()
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    array = array.cast(pa.large_binary())
    _, offsets, content = array.buffers()
    bounds = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    count = int(bounds[-1]) // _WORD.itemsize
    words = np.frombuffer(content or b"", _WORD, count=count)
    return bounds // _WORD.itemsize, words


def units_of(partial: pl.Series) -> list[int]:
    """The units of partial sums as Python's numbers; NULL counts as 0."""
    return [ExactSum.of_bytes(content).units if content else 0 for content in partial.to_list()]
