"""An index from hashes to slots, for many hashes at once."""

from __future__ import annotations

import numpy as np

from tidemill.physical.arrays import Array, Bools, Ints

_FEWEST_CELLS = 64
_FEWEST_TO_COMPACT = 1024
_FREE = -1
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2 ** 64 divided by the golden ratio
_HALF = np.uint64(32)


class HashIndex:
    """Open addressing: a hash has a home cell and goes to the next free one from there.

    Slots are numbered on from 0. One that was freed is not found any more, but keeps its cell
    until the index is built anew.

    >>> index = HashIndex()
    >>> slots, added = index.find_or_add(np.array([70, 50, 70], dtype=np.uint64))
    >>> len(set(slots.tolist())), len(added)
    (2, 2)
    >>> index.free(slots[:1])
    >>> index.find(np.array([50, 70], dtype=np.uint64)).tolist() == [slots[1], -1]
    True
    """

    def __init__(self) -> None:
        self._hashes: Array = np.zeros(1, dtype=np.uint64)  # by slot
        self._live = np.zeros(1, dtype=np.bool_)
        self._count = 0
        self.live_count = 0
        self._cells: Array = np.full(_FEWEST_CELLS, _FREE, dtype=np.int32)

    def __len__(self) -> int:
        return self._count

    @property
    def live(self) -> Bools:
        """Which slots are in use."""
        return self._live[: self._count]

    @property
    def hashes(self) -> Array:
        """The hashes by slot."""
        return self._hashes[: self._count]

    def free(self, slots: Ints) -> None:
        """Forget hashes."""
        self._live[slots] = False
        self.live_count -= len(slots)

    def find(self, hashes: Array) -> Ints:
        """The slot of every hash, -1 where there is none."""
        _, slots = self._search(hashes, self._home(hashes))
        return slots.astype(np.int64)

    def find_or_add(self, hashes: Array) -> tuple[Ints, Ints]:
        """The slot of every hash, and the rows for which new ones were made, in their order."""
        cells, found = self._search(hashes, self._home(hashes))
        slots = found.astype(np.int64)
        missing = np.flatnonzero(slots < 0)
        if len(missing) == 0:
            return slots, missing
        if self._reserve(len(missing)):
            cells, _ = self._search(hashes[missing], self._home(hashes[missing]))
        else:
            cells = cells[missing]
        slots[missing], added = self._add(hashes[missing], cells)
        self._trim()
        return slots, missing[added]

    def compact(self) -> Ints | None:
        """If most slots are free, number the others anew: the old numbers of what is kept."""
        if self._count < _FEWEST_TO_COMPACT or self.live_count * 2 > self._count:
            return None
        kept = np.flatnonzero(self.live)
        self._count = len(kept)
        self._hashes, self._live = self._hashes[kept], self._live[kept]
        self._resize(self._count)
        self._build(_cells_for(self._count))
        return kept

    def rehash(self, hashes: Array) -> None:
        """Take other hashes, given by slot."""
        self._hashes[: self._count] = hashes
        self._build(len(self._cells))

    @property
    def nbytes(self) -> int:
        return self._hashes.nbytes + self._live.nbytes + self._cells.nbytes

    def _home(self, hashes: Array) -> Ints:
        bits = len(self._cells).bit_length() - 1
        mixed = (hashes ^ (hashes >> _HALF)) * _MIX
        cells: Ints = (mixed >> np.uint64(64 - bits)).view(np.int64)
        return cells

    def _search(self, hashes: Array, cells: Ints) -> tuple[Ints, Array]:
        """From these cells on, the first that is free or has the hash; and what is in it."""
        slots = self._cells[cells]
        astray = self._astray(hashes, slots)
        while len(astray):
            following = (cells[astray] + 1) & (len(self._cells) - 1)
            cells[astray] = following
            slots[astray] = there = self._cells[following]
            astray = astray[self._astray(hashes[astray], there)]
        return cells, slots

    def _astray(self, hashes: Array, slots: Array) -> Ints:
        """Which hashes are at a cell that another one, or a dead one, has taken."""
        other = (self._hashes[slots] != hashes) | ~self._live[slots]
        return np.flatnonzero(other & (slots >= 0))

    def _add(self, hashes: Array, cells: Ints) -> tuple[Ints, Ints]:
        """New slots for hashes, given the free cells that they came to; equal ones share one."""
        slots = np.empty(len(hashes), dtype=np.int64)
        added = []
        rows = np.arange(len(hashes), dtype=np.int64)
        while len(rows):
            wanted = cells[rows]
            self._cells[wanted] = rows  # of several that want the same cell, one stays
            winner = self._cells[wanted]
            own = rows[np.flatnonzero(winner == rows)]
            slots[own] = fresh = np.arange(self._count, self._count + len(own))
            self._cells[cells[own]] = fresh
            self._hashes[fresh] = hashes[own]
            self._live[fresh] = True
            self._count += len(own)
            self.live_count += len(own)
            added.append(own)
            equal = hashes[winner] == hashes[rows]
            slots[rows[equal]] = slots[winner[equal]]
            rows = rows[~equal]
            cells[rows], _ = self._search(hashes[rows], cells[rows])
        return slots, np.concatenate(added)

    def _reserve(self, more: int) -> bool:
        """Make room; whether cells have moved."""
        needed = self._count + more
        if needed > len(self._hashes):
            self._resize(max(needed, 2 * self._count))
        if 2 * needed <= len(self._cells):
            return False
        self._build(_cells_for(needed))
        return True

    def _trim(self) -> None:
        """Give back room that was made for hashes that turned out to be equal."""
        if len(self._hashes) > 4 * self._count:
            self._resize(self._count)
        if len(self._cells) > 4 * _cells_for(self._count):
            self._build(_cells_for(self._count))

    def _resize(self, size: int) -> None:
        # Never without a place, so that it does no harm to look at number -1.
        self._hashes = np.resize(self._hashes[: self._count], max(size, 1))
        self._live = np.resize(self.live, max(size, 1))

    def _build(self, size: int) -> None:
        """Put all that is live into new cells."""
        self._cells = np.full(size, _FREE, dtype=np.int32)
        slots = np.flatnonzero(self.live)
        cells = self._home(self._hashes[slots])
        while len(slots):
            free = np.flatnonzero(self._cells[cells] < 0)
            self._cells[cells[free]] = slots[free]
            left = np.flatnonzero(self._cells[cells] != slots)
            slots, cells = slots[left], (cells[left] + 1) & (size - 1)


def _cells_for(slots: int) -> int:
    """At most half of the cells are taken."""
    return max(_FEWEST_CELLS, 1 << (2 * slots - 1).bit_length())
