"""Rows of several inputs that hold together: found one input after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tidemill.physical.mechanisms.arrays import Array, Bools, Ints
from tidemill.physical.mechanisms.pairs import MOST_PAIRS
from tidemill.physical.operators.join.bands import Search
from tidemill.physical.operators.join.meeting import JoinRows, Meetings, Wanted, all_meetings
from tidemill.physical.operators.join.side import SortedRun

_FEW_PAIRS = 10_000


@dataclass(frozen=True)
class Shelf:
    """Rows of one input, in runs; the numbers of rows go on from run to run.

    Rows can be looked up by key if the input is `keyed`.
    """

    number: int
    runs: tuple[tuple[int, SortedRun], ...]
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
        if not len(run):
            continue
        every = np.arange(offset, offset + len(run), dtype=np.int64)
        hashes = run.hashes if shelf.keyed else None
        found = Combinations({shelf.number: every}, run.starts, run.ends, hashes)
        holding = (run.starts < end) & (run.ends > start)
        if holding.any():
            yield found if holding.all() else found.take(np.flatnonzero(holding))


def extended(
    found: Combinations, shelf: Shelf, search: Search | None = None, *, last: bool
) -> Iterator[Combinations]:
    """With rows of one more input, in blocks of bounded size; after the last one, as they come."""
    parts: list[Combinations] = []
    for offset, run in shelf.runs:
        for met in meetings(found, run, shelf.keyed, search):
            parts.append(_together(found, met, run, shelf, offset, last=last))
            if last or sum(map(len, parts)) >= MOST_PAIRS:
                yield Combinations.concat(parts)
                parts = []
    if parts:
        yield Combinations.concat(parts)


def gathered(blocks: Iterable[Combinations]) -> Iterator[Combinations]:
    """Small blocks as one: whatever is done with a block, most of it is the call."""
    small: list[Combinations] = []
    for block in blocks:
        small.append(block)
        if sum(map(len, small)) >= _FEW_PAIRS:
            yield Combinations.concat(small)
            small = []
    if small:
        yield Combinations.concat(small)


def _together(
    found: Combinations, met: Meetings, run: SortedRun, shelf: Shelf, offset: int, *, last: bool
) -> Combinations:
    rows = {number: ids[met.found] for number, ids in found.rows.items()}
    rows[shelf.number] = met.run + offset
    hashes: Array | None = None  # nobody looks at them after the last
    if found.hashes is not None and not last:
        hashes = found.hashes[met.found]
    elif shelf.keyed and not last:
        hashes = run.hashes[met.run]
    return Combinations(rows, met.start, met.end, hashes)


def meetings(
    found: Combinations, run: SortedRun, keyed: bool, search: Search | None = None
) -> Iterator[Meetings]:
    """Rows of a run that hold together with what was found, and have its key: in blocks.

    Where there is another way to `search`, they may be fewer.
    """
    if len(run) == 0:
        return
    met = None if search is None else search(run, found.start, found.end)
    if met is not None:
        yield from met
        return
    by_key = keyed and found.hashes is not None
    hashes = found.hashes if by_key and found.hashes is not None else np.empty(0, np.uint64)
    wanted = Wanted(hashes, run.places_of(hashes), found.start, found.end)
    rows = JoinRows(run.hashes, run.places, run.starts, run.ends)
    # Rows without keys are ordered by their starts; those of a key that is not asked for are not.
    yield from all_meetings(wanted, rows, run.longest, by_key=by_key, by_start=by_key or not keyed)
