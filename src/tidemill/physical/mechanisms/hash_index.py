"""An index from hashes to slots, for many hashes at once."""

from __future__ import annotations

import numpy as np

from tidemill.physical.mechanisms.arrays import Array, Bools, Ints
from tidemill.physical.mechanisms.compiled import compiled_for, fixed, part

_FEWEST_CELLS = 64
_FEWEST_TO_COMPACT = 1024
_FREE = -1
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2 ** 64 divided by the golden ratio
_HALF = np.uint64(32)

_HASHES = np.zeros(0, np.uint64)
_NUMBERS = np.zeros(0, np.int64)
_INDEX = (np.zeros(0, np.int32), _HASHES, np.zeros(0, np.bool_))


class HashIndex:
    """Open addressing: a hash has a home cell and goes to the next free one from there.

    Slots are numbered on from 0. One that was freed is not found any more, but keeps its cell
    until the index is built anew.

    >>> index = HashIndex()
    >>> slots, added = index.find_or_add(np.array([70, 50, 70], dtype=np.uint64))
    >>> slots.tolist(), added.tolist()
    ([0, 1, 0], [0, 1])
    >>> index.free(slots[:1])
    >>> index.find(np.array([50, 70], dtype=np.uint64)).tolist()
    [1, -1]
    """

    STATE = ("_hashes", "_live", "_count", "live_count", "_cells")

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
        slots = np.empty(len(hashes), dtype=np.int64)
        search(self._cells, self._hashes, self._live, fixed(hashes), slots)
        return slots

    def find_or_add(self, hashes: Array) -> tuple[Ints, Ints]:
        """The slot of every hash, and the rows for which new ones were made, in their order."""
        slots, added = (np.empty(len(hashes), dtype=np.int64) for _ in range(2))
        wanted, before, done = fixed(hashes), self._count, 0
        while done < len(hashes):
            index = self._cells, self._hashes, self._live
            done, count = search_or_add(*index, self._count, wanted, done, slots, added, before)
            self.live_count += count - self._count
            self._count = count
            if done < len(hashes):
                self._grow()
        return slots, added[: self._count - before]

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

    def _grow(self) -> None:
        """Make room for as many slots again."""
        room = 2 * self._count
        if self._count == len(self._hashes):
            self._resize(room)
        if 2 * self._count >= len(self._cells):
            self._build(_cells_for(room))

    def _resize(self, size: int) -> None:
        # Never without a place, so that there is always one to double.
        self._hashes = np.resize(self._hashes[: self._count], max(size, 1))
        self._live = np.resize(self.live, max(size, 1))

    def _build(self, size: int) -> None:
        """Put all that is live into new cells."""
        self._cells = np.full(size, _FREE, dtype=np.int32)
        put(self._cells, self._hashes, self._live, self._count)


def _cells_for(slots: int) -> int:
    """At most half of the cells are taken."""
    return max(_FEWEST_CELLS, 1 << (2 * slots - 1).bit_length())


@part
def _home(hash: np.uint64, last: int) -> np.int64:
    """The cell where the search for a hash begins; the last cell is all ones."""
    mixed = (hash ^ (hash >> _HALF)) * _MIX
    return np.int64((mixed >> _HALF) & np.uint64(last))


@part
def _cell(cells: Array, known: Array, live: Array, hash: np.uint64) -> np.int64:
    """The cell that has a hash, or the free one where it would go."""
    last = len(cells) - 1
    cell = _home(hash, last)
    while cells[cell] >= 0:
        slot = cells[cell]
        if known[slot] == hash and live[slot]:
            break
        cell = (cell + 1) & last
    return cell


@compiled_for(*_INDEX, fixed(_HASHES), _NUMBERS)
def search(cells: Array, known: Array, live: Array, hashes: Array, slots: Ints) -> None:
    """The slots of hashes."""
    for row in range(len(hashes)):
        slots[row] = cells[_cell(cells, known, live, hashes[row])]


@compiled_for(*_INDEX, 0, fixed(_HASHES), 0, _NUMBERS, _NUMBERS, 0)
def search_or_add(
    cells: Array,
    known: Array,
    live: Array,
    count: int,
    hashes: Array,
    done: int,
    slots: Ints,
    added: Ints,
    before: int,
) -> tuple[int, int]:
    """The slots of hashes, from row `done` on; the row at which there is no more room."""
    room = min(len(known), len(cells) // 2)
    for row in range(done, len(hashes)):
        if row > done and hashes[row] == hashes[row - 1]:
            slots[row] = slots[row - 1]
            continue
        cell = _cell(cells, known, live, hashes[row])
        if cells[cell] < 0:
            if count == room:
                return row, count
            cells[cell], known[count], live[count] = count, hashes[row], True
            added[count - before] = row
            count += 1
        slots[row] = cells[cell]
    return len(hashes), count


@compiled_for(*_INDEX, 0)
def put(cells: Array, known: Array, live: Array, count: int) -> None:
    """Put all that is live into free cells."""
    for slot in range(count):
        if live[slot]:
            cells[_cell(cells, known, live, known[slot])] = slot
