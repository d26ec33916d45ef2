"""Which objects appear in which streams of a window, from a sketch of bounded size.

The text on which the approximate ranking rests keeps a Flajolet-Martin sketch per stream, every
bit with the time when it was last set, and finds intersections by inclusion and exclusion of
unions. Over sketches of 1024 bitmaps (some 330 kB a stream) the probability of one more stream
was then wrong by 0.02 to 0.18 given one stream, and by 0.2 to 0.4 given five: the errors of 32
large unions meet in one small intersection. So the same hash and the same bits serve another way:
a cell is kept for every object whose hash ends in at least `level` zeros (Gibbons' distinct
sampling), with the times of its last two rows in each stream. Conditional counts are then exact
on a sample: 4096 cells are wrong by nothing in windows of 1,000 rows and by 0.005 to 0.04 in
windows of 10,000 to 1,000,000, for 3 to 6 streams, any number of them given. Unions are cell-wise
maxima, and cells outside the window are forgotten.

Sketches of Apache DataSketches never forget: they count all that was ever added, so that a window
would need one per pane and their intersections again. The package hyperloglog slides a window,
but takes one value per call, in Python, and counts single streams only.
"""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO

import numpy as np
import numpy.typing as npt

from tidemill.physical.mechanisms.arrays import Bools, Ints
from tidemill.physical.operators.ranking.kernel.cells import NEVER, place

CELLS = 4096
"""Objects in a sketch, at most."""

_SPARSE = 8
"""A sketch with less than this part of its cells in use takes more of the objects to come."""

Floats = npt.NDArray[np.float64]
Hashes = npt.NDArray[np.uint64]
Rows = tuple[Hashes, Ints, Ints]
"""Hashes of objects, streams that show them, and times."""


def zeros_at_end(hashes: Hashes) -> Ints:
    """The position of the lowest bit that is set; 64 if none is.

    >>> zeros_at_end(np.array([1, 6, 8, 0], np.uint64)).tolist()
    [0, 1, 3, 64]
    """
    lowest = hashes & (~hashes + np.uint64(1))
    # A power of two is exact as a float, whose exponent is the position of its bit.
    exponents = (lowest.astype(np.float64).view(np.int64) >> 52) - 1023
    return np.where(hashes == 0, 64, exponents)


class Appearances:
    """The objects that streams have shown in the last `size` instants (or rows), or a sample.

    >>> seen = Appearances(streams=2, size=10)
    >>> seen.note(np.array([7, 8, 7], np.uint64), np.array([0, 0, 1]), np.array([1, 2, 3]))
    >>> seen.chances(np.array([0b01, 0b10]))  # of each stream, if seen in the first, the second
    array([[1. , 0.5],
           [1. , 1. ]])
    """

    STATE = (
        "_streams",
        "_size",
        "_cells",
        "_level",
        "_sure",
        "_lowered",
        "_now",
        "_hashes",
        "_times",
        "_used",
    )

    def __init__(self, streams: int, size: int, cells: int = CELLS) -> None:
        self._streams, self._size, self._cells = streams, size, cells
        self._level = 0  # zeros at the end of every hash
        self._sure = 0  # no hash in the window with this number of zeros was left out
        self._lowered = NEVER  # when the level fell
        self._now = NEVER
        self._clear()

    def _clear(self) -> None:
        # Twice the places: while half of them are free, one is soon found.
        self._hashes = np.zeros(2 * self._cells, np.uint64)
        self._times = np.full((2 * self._cells, self._streams, 2), NEVER)
        self._used = np.zeros(1, np.int64)

    def note(self, hashes: Hashes, streams: Ints, times: Ints) -> None:
        """Take rows into account: hashes of their objects, their streams and their times."""
        if len(hashes):
            self.advance(int(times.max()))
            self._place(hashes, streams, times)

    def _place(self, hashes: Hashes, streams: Ints, times: Ints) -> None:
        # The compiled function takes plain arrays that may be written to, though it does not.
        hashes = np.require(hashes, requirements=["C", "W"])
        streams, times = (
            np.require(column, requirements=["C", "W"]) for column in (streams, times)
        )
        done = 0
        while done < len(hashes):
            table = self._hashes, self._times, self._used, self._level, self._before
            done = place(*table, hashes, streams, times, done)
            if done < len(hashes):
                self._make_room()

    def _make_room(self) -> None:
        """Forget what is outside the window; if that is not enough, sample less."""
        live = self._hashes[self._live]
        # More room than for the next row, or nearly every new object would clear the table again.
        while 4 * len(live) > 3 * self._cells:
            self._level += 1
            live = live[_sampled(live, self._level)]
        self._sure = max(self._sure, self._level)
        rows = self.rows(self._level)
        self._clear()
        self._place(*rows)

    def advance(self, now: int) -> None:
        """Let time pass; when there is much room, sample more."""
        self._now = max(self._now, now)
        if self._level and self._lowered <= self._before:
            # The level fell a whole window ago: what was left out before is outside of it by now.
            self._sure = self._level
            if np.count_nonzero(self._live) * _SPARSE < self._cells:
                # The window knows too little yet of objects that it has only just begun to take.
                self._level, self._lowered = self._level - 1, self._now

    def merge(self, others: Iterable[Appearances]) -> Appearances:
        """What all have seen, as one sketch of the same size."""
        merged = Appearances(self._streams, self._size, self._cells)
        sketches = [self, *others]
        # A hash that one sketch may have left out must not count in the others either.
        merged._level = merged._sure = max(sketch._sure for sketch in sketches)
        merged._now = max(sketch._now for sketch in sketches)
        for sketch in sketches:
            merged._place(*sketch.rows(merged._level))
        return merged

    def chances(self, seen: Ints) -> Floats:
        """For sets of streams, as bits: how likely an object of all these is also in each stream.

        It is 1 where no object is known to be in all of them.
        """
        patterns, counts = np.unique(self._patterns, return_counts=True)
        sets, which = np.unique(seen, return_inverse=True)
        within = (patterns & sets[:, None]) == sets[:, None]
        weighed = within * counts
        objects = weighed.sum(axis=1, keepdims=True)
        found = weighed @ ((patterns[:, None] >> np.arange(self._streams)) & 1)
        chances: Floats = np.where(objects == 0, 1.0, found / np.maximum(objects, 1))
        return chances[which]

    @property
    def objects(self) -> Floats:
        """How many objects each stream shows, about."""
        shown = self._valid[:, :, 0].sum(axis=0)
        objects: Floats = shown * 2.0**self._sure
        return objects

    @property
    def again(self) -> Floats:
        """How likely a stream shows an object again that it shows; 1 where it shows none."""
        shown, again = self._valid.sum(axis=0).T
        return np.where(shown == 0, 1.0, again / np.maximum(shown, 1))

    @property
    def now(self) -> int:
        """The end of the window."""
        return self._now

    @property
    def level(self) -> int:
        """No hash with at least this number of zeros at its end is left out."""
        return self._sure

    @property
    def nbytes(self) -> int:
        return self._hashes.nbytes + self._times.nbytes

    def rows(self, level: int) -> Rows:
        """The rows in the window whose hashes have this number of zeros, in a fixed order."""
        sampled = np.flatnonzero(self._live & _sampled(self._hashes, level))
        # Places in the table depend on the order of arrival; what is made of the rows must not.
        sampled = sampled[np.argsort(self._hashes[sampled])]
        times = self._times[sampled]
        cells, streams, turns = np.nonzero(times > self._before)
        return self._hashes[sampled[cells]], streams, times[cells, streams, turns]

    def dump(self, level: int = 0) -> bytes:
        """The sketch as bytes, with the hashes that have this number of zeros at their end."""
        level = max(level, self._sure)
        hashes, streams, times = self.rows(level)
        facts = np.array([self._streams, self._size, self._cells, level, self._now])
        file = BytesIO()
        np.savez(file, facts=facts, hashes=hashes, streams=streams.astype(np.uint8), times=times)
        return file.getvalue()

    @staticmethod
    def load(dumped: bytes) -> Appearances:
        """The sketch that was dumped."""
        with np.load(BytesIO(dumped), allow_pickle=False) as file:
            streams, size, cells, level, now = file["facts"].tolist()
            sketch = Appearances(streams, size, cells)
            sketch._level = sketch._sure = level
            sketch._now = now
            sketch._place(file["hashes"], file["streams"].astype(np.int64), file["times"])
        return sketch

    @property
    def _before(self) -> int:
        """The last time before the window."""
        return max(self._now - self._size, NEVER)

    @property
    def _live(self) -> Bools:
        """Which cells hold an object of the window."""
        live: Bools = self._times[:, :, 0].max(axis=1) > self._before
        return live

    @property
    def _valid(self) -> Bools:
        """Of the objects of the sample, which of the last two rows in each stream count."""
        valid: Bools = self._times[_sampled(self._hashes, self._sure)] > self._before
        return valid

    @property
    def _patterns(self) -> Ints:
        """For every object of the sample, the streams that show it, as bits."""
        bits = self._valid[:, :, 0] << np.arange(self._streams)
        patterns: Ints = bits.sum(axis=1, dtype=np.int64)
        return patterns[patterns > 0]


def _sampled(hashes: Hashes, level: int) -> Bools:
    """Which hashes end in at least this number of zeros."""
    sampled: Bools = hashes & np.uint64((1 << level) - 1) == 0
    return sampled
