"""Which objects appear in which streams of a window, from a sketch of bounded size.

The text on which the approximate ranking rests keeps a Flajolet-Martin sketch per stream, every
bit with the time when it was last set, and finds intersections by inclusion and exclusion of
unions. Over sketches of 1024 bitmaps (some 330 kB a stream) the probability of one more stream
was then wrong by 0.02 to 0.18 given one stream, and by 0.2 to 0.4 given five: the errors of 32
large unions meet in one small intersection. So the same hash and the same bits serve another way:
a cell is kept for every object whose hash ends in at least `level` zeros (Gibbons' distinct
sampling), with the time when it was last seen in each stream. Conditional counts are then exact
on a sample: 4096 cells (130 kB for three streams together) are wrong by nothing in windows of
1,000 rows and by 0.005 to 0.04 in windows of 10,000 to 1,000,000, for 3 to 6 streams, any number
of them given. Unions are cell-wise maxima, and cells outside the window are forgotten.

Sketches of Apache DataSketches never forget: they count all that was ever added, so that a window
would need one per pane and their intersections again. The package hyperloglog slides a window,
but takes one value per call, in Python, and counts single streams only.
"""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO

import numpy as np
import numpy.typing as npt

from tidemill.physical.arrays import Bools, Ints

CELLS = 4096
"""Objects in a sketch, at most."""

_NEVER = np.iinfo(np.int64).min
_SPARSE = 8
"""A sketch with less than this part of its cells in use takes more of the objects to come."""

Floats = npt.NDArray[np.float64]
Hashes = npt.NDArray[np.uint64]


def zeros_at_end(hashes: Hashes) -> Ints:
    """The position of the lowest bit that is set; 64 if none is.

    >>> zeros_at_end(np.array([1, 6, 8, 0], np.uint64)).tolist()
    [0, 1, 3, 64]
    """
    lowest = hashes & (~hashes + np.uint64(1))
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

    def __init__(self, streams: int, size: int, cells: int = CELLS) -> None:
        self._streams, self._size, self._cells = streams, size, cells
        self._hashes = np.empty(0, np.uint64)  # ascending
        self._times = np.empty((0, streams), np.int64)
        self._level = 0  # zeros at the end of every hash
        self._sure = 0  # of hashes with so many zeros nothing in the window was left out
        self._lowered = _NEVER  # when the level fell
        self._now = _NEVER

    def note(self, hashes: Hashes, streams: Ints, times: Ints) -> None:
        """Take rows into account: hashes of their objects, their streams and their times."""
        if not len(hashes):
            return
        self.advance(int(times.max()))
        taken = (times > self._before) & self._sampled(hashes, self._level)
        self._take(hashes[taken], streams[taken], times[taken])
        self._shrink()

    def advance(self, now: int) -> None:
        """Forget what is outside the window that ends now."""
        self._now = max(self._now, now)
        self._keep(self._times.max(axis=1, initial=_NEVER) > self._before)
        settled = self._lowered <= self._before
        if settled:
            self._sure = self._level
        if settled and self._level and len(self._hashes) * _SPARSE < self._cells:
            # The times of objects that are taken only from now on are not known for a window.
            self._level, self._lowered = self._level - 1, self._now

    def merge(self, others: Iterable[Appearances]) -> Appearances:
        """What all have seen, as one sketch of the same size."""
        merged = Appearances(self._streams, self._size, self._cells)
        sketches = [self, *others]
        merged._level = merged._sure = max(sketch._sure for sketch in sketches)
        merged._now = max(sketch._now for sketch in sketches)
        for sketch in sketches:
            sampled = self._sampled(sketch._hashes, merged._level)
            hashes = np.repeat(sketch._hashes[sampled], self._streams)
            streams = np.tile(np.arange(self._streams), int(sampled.sum()))
            merged._take(hashes, streams, sketch._times[sampled].ravel())
        merged.advance(merged._now)
        merged._shrink()
        return merged

    def chances(self, seen: Ints) -> Floats:
        """For sets of streams, as bits: how likely an object of all these is also in each stream.

        It is 1 where no object is known to be in all of them.
        """
        patterns, counts = np.unique(self._patterns, return_counts=True)
        sets, which = np.unique(seen, return_inverse=True)
        within = (patterns & sets[:, None]) == sets[:, None]
        bits = (patterns[:, None] >> np.arange(self._streams)) & 1
        weighed = within * counts
        objects = weighed.sum(axis=1, keepdims=True)
        found = weighed @ bits
        chances: Floats = np.where(objects == 0, 1.0, found / np.maximum(objects, 1))
        return chances[which]

    @property
    def objects(self) -> Floats:
        """How many objects each stream shows, about."""
        bits = (self._patterns[:, None] >> np.arange(self._streams)) & 1
        objects: Floats = bits.sum(axis=0) * 2.0**self._sure
        return objects

    @property
    def nbytes(self) -> int:
        return self._hashes.nbytes + self._times.nbytes

    def dump(self, level: int = 0) -> bytes:
        """The sketch as bytes, with the hashes that have so many zeros at their end."""
        kept = self._sampled(self._hashes, max(level, self._sure))
        facts = np.array([self._size, self._cells, max(level, self._sure), self._now])
        file = BytesIO()
        np.savez(file, facts=facts, hashes=self._hashes[kept], times=self._times[kept])
        return file.getvalue()

    @staticmethod
    def load(dumped: bytes) -> Appearances:
        """The sketch that was dumped."""
        with np.load(BytesIO(dumped), allow_pickle=False) as file:
            size, cells, level, now = file["facts"].tolist()
            sketch = Appearances(file["times"].shape[1], size, cells)
            sketch._hashes, sketch._times = file["hashes"], file["times"]
        sketch._level = sketch._sure = level
        sketch._now = now
        return sketch

    @property
    def level(self) -> int:
        """Of hashes with so many zeros at their end none is left out."""
        return self._sure

    @property
    def _before(self) -> int:
        """The last time before the window."""
        return max(self._now - self._size, _NEVER + 1)

    @property
    def _patterns(self) -> Ints:
        """For every object of the sample, the streams that show it, as bits."""
        times = self._times[self._sampled(self._hashes, self._sure)]
        bits = (times > self._before) << np.arange(self._streams)
        patterns: Ints = bits.sum(axis=1, dtype=np.int64)
        return patterns[patterns > 0]

    @staticmethod
    def _sampled(hashes: Hashes, level: int) -> Bools:
        """Which hashes end in so many zeros."""
        sampled: Bools = hashes & np.uint64((1 << level) - 1) == 0
        return sampled

    def _take(self, hashes: Hashes, streams: Ints, times: Ints) -> None:
        new = np.setdiff1d(hashes, self._hashes)
        if len(new):
            places = np.searchsorted(self._hashes, new)
            self._hashes = np.insert(self._hashes, places, new)
            self._times = np.insert(self._times, places, _NEVER, axis=0)
        np.maximum.at(self._times, (np.searchsorted(self._hashes, hashes), streams), times)

    def _shrink(self) -> None:
        """Raise the level until there are cells for all."""
        while len(self._hashes) > self._cells:
            self._level += 1
            self._sure = max(self._sure, self._level)
            self._keep(self._sampled(self._hashes, self._level))

    def _keep(self, kept: Bools) -> None:
        if not kept.all():
            self._hashes, self._times = self._hashes[kept], self._times[kept]
