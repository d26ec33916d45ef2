"""Rows of several inputs that hold together: found one input after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tidemill.physical.arrays import Array, Bools, Ints, bisect, blocks, ranges
from tidemill.physical.join.side import Run
from tidemill.physical.pairs import MOST_PAIRS


@dataclass(frozen=True)
class Shelf:
    """Rows of one input, in runs; the numbers of rows go on from run to run.

    Rows can be looked up by key if the input is `keyed`.
    """

    number: int
    runs: tuple[tuple[int, Run], ...]
    keyed: bool

    def __bool__(self) -> bool:
        return any(len(run) for _, run in self.runs)


@dataclass(frozen=True)
class Combinations:
    """Rows found so far, by input, and when they hold together.

    `hashes` are those of the key, once an input with keys has taken part.
    """

    rows: Mapping[int, Ints]
    start: Ints
    end: Ints
    hashes: Array | None

    def __len__(self) -> int:
        return len(self.start)

    def take(self, at: Ints | Bools) -> Combinations:
        """Some of them."""
        rows = {number: found[at] for number, found in self.rows.items()}
        hashes = None if self.hashes is None else self.hashes[at]
        return Combinations(rows, self.start[at], self.end[at], hashes)

    @staticmethod
    def concat(parts: Sequence[Combinations]) -> Combinations:
        """All of them together."""
        if len(parts) == 1:
            return parts[0]
        rows = {
            number: np.concatenate([part.rows[number] for part in parts])
            for number in parts[0].rows
        }
        hashes = [part.hashes for part in parts if part.hashes is not None]
        return Combinations(
            rows,
            np.concatenate([part.start for part in parts]),
            np.concatenate([part.end for part in parts]),
            np.concatenate(hashes) if hashes else None,
        )


def alone(shelf: Shelf, start: int, end: int) -> Iterator[Combinations]:
    """The rows of a first input, as far as they hold at some time from start to end."""
    for offset, run in shelf.runs:
        rows = np.flatnonzero((run.starts < end) & (run.ends > start))
        if len(rows):
            found = {shelf.number: rows + offset}
            hashes = run.hashes[rows] if shelf.keyed else None
            yield Combinations(found, run.starts[rows], run.ends[rows], hashes)


def extended(found: Combinations, shelf: Shelf, *, last: bool) -> Iterator[Combinations]:
    """With rows of one more input, in blocks of bounded size; after the last one, as they come."""
    parts: list[Combinations] = []
    for offset, run in shelf.runs:
        for at_found, at_run in _candidates(found, run, shelf.keyed):
            part = _together(found, at_found, run, at_run, shelf, offset)
            if len(part):
                parts.append(part)
            if parts and (last or sum(map(len, parts)) >= MOST_PAIRS):
                yield Combinations.concat(parts)
                parts = []
    if parts:
        yield Combinations.concat(parts)


def _together(
    found: Combinations, at_found: Ints, run: Run, at_run: Ints, shelf: Shelf, offset: int
) -> Combinations:
    """The candidates that hold together."""
    start = np.maximum(found.start[at_found], run.starts[at_run])
    end = np.minimum(found.end[at_found], run.ends[at_run])
    met = start < end
    if found.hashes is not None and shelf.keyed and run.buckets is not None:
        met &= found.hashes[at_found] == run.hashes[at_run]
    if not met.all():
        at_found, at_run, start, end = at_found[met], at_run[met], start[met], end[met]
    rows = {number: ids[at_found] for number, ids in found.rows.items()}
    rows[shelf.number] = at_run + offset
    if found.hashes is not None:
        hashes: Array | None = found.hashes[at_found]
    else:
        hashes = run.hashes[at_run] if shelf.keyed else None
    return Combinations(rows, start, end, hashes)


def _candidates(found: Combinations, run: Run, keyed: bool) -> Iterator[tuple[Ints, Ints]]:
    """Pairs that may match, in blocks of bounded size: at the same place, about the same time."""
    if len(run) == 0:
        return
    hashes = found.hashes if keyed else None
    low, high = run.everywhere(len(found)) if hashes is None else run.find(hashes)
    rows = np.flatnonzero(low < high)
    low, high = low[rows], high[rows]
    by_start = hashes is not None or not keyed  # how the rows between low and high are ordered
    if by_start and (high - low).sum() > 2 * len(rows):
        # A row that overlaps another starts before that one ends, and not longer before its
        # start than rows hold. For the rows of a time window, this is exact.
        low = bisect(run.starts, low, high, found.start[rows] - run.longest + 1)
        high = bisect(run.starts, low, high, found.end[rows])
    count = high - low
    for here in blocks(count, MOST_PAIRS):
        yield np.repeat(rows[here], count[here]), ranges(low[here], count[here])
