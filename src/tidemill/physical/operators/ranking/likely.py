"""What is likely to come to objects, from the streams in which others like them appear.

An exact ranking expects of every row that may still come that it will, and with the largest
value. Here a stream that has not shown an object counts as likely as it shows others that have
been seen in the same streams. Where a stream may show an object several times, the number of rows
is estimated from the share of objects that come again, as if every row decided anew (the text
measures self-join sizes for that).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tidemill.algebra.ranking import Ranked
from tidemill.physical.mechanisms.arrays import Array, Bools, Ints
from tidemill.physical.operators.ranking.appearance import Appearances, Hashes
from tidemill.physical.operators.ranking.kernel.cells import NEVER
from tidemill.physical.operators.ranking.promises import Promises, SeenObjects
from tidemill.physical.operators.ranking.pruning import Pruning
from tidemill.physical.operators.ranking.rows import Objects

_UNBOUNDED = 2**62
_NEWS = 16
"""How often per window a partition tells the others what it has seen."""


class Likely(Promises):
    """Promises cut down to the part that objects of the same streams show to be likely."""

    STATE = ("_own", "_all", "_others", "_partition", "_now", "_has_news")

    def __init__(self, ranked: Ranked, window: int | None) -> None:
        super().__init__(ranked.streams, window)
        self._confidence = ranked.confidence
        self._pause = 0 if window is None else window // _NEWS
        self._own = Appearances(len(ranked.streams), _UNBOUNDED if window is None else window)
        self._all = self._own
        self._others: dict[int, Appearances] = {}
        self._partition = 0
        self._now = NEVER  # after the last tick
        self._has_news = False

    def start(self, partition: int) -> None:
        """Learn which of the partitions this is."""
        self._partition = partition

    def advance(self, now: int) -> None:
        """Take note of the place that the stream has come to."""
        self._own.advance(now)

    def note(self, hashes: Hashes, streams: Ints, places: Ints) -> None:
        """Take note of the rows of a tick."""
        self._own.note(hashes, streams, places)
        before, self._now = self._now, self._own.now
        self._has_news = not self._pause or before // self._pause != self._now // self._pause
        self._all = self._own.merge(self._others.values()) if self._others else self._own

    def tell(self) -> bytes | None:
        """What was seen, from time to time."""
        if not self._has_news:
            return None
        # Cells that a sketch of all partitions would have no room for need not travel.
        return self._own.dump(self._all.level - 1)

    def hear(self, told: Mapping[int, bytes]) -> None:
        """Learn what was seen in other partitions."""
        news = {partition: Appearances.load(data) for partition, data in told.items()}
        self._others |= news
        self._others.pop(self._partition, None)

    @property
    def are_bounded(self) -> bool:
        """What is likely may become more."""
        return False

    def coming(self, seen: Ints) -> Array:
        """How many rows of every stream are likely to come, given how many were seen."""
        bits = (seen > 0) << np.arange(seen.shape[1])
        chances = self._all.chances(bits.sum(axis=1))
        most: Array = super().coming(seen)
        with np.errstate(divide="ignore"):
            rows = np.minimum(1 / (1 - self._all.again), most + seen)
        expected = np.where(seen > 0, rows - 1, chances * rows)
        return np.minimum(most, self._confidence * expected)

    @property
    def nbytes(self) -> int:
        sketches = {id(sketch): sketch for sketch in (self._own, self._all)}
        return sum(s.nbytes for s in [*sketches.values(), *self._others.values()])


class PruningByTick(Pruning):
    """Lets instances go only at the end of a tick: before that, it is not known what is likely.

    An object begins anew when all of its rows have left the window.
    """

    def _begun_anew(self, objects: Objects, begins: Bools, seen: SeenObjects) -> tuple[Bools, Ints]:
        rows, born = objects.rows, np.full(len(objects.first), -1)
        anew = np.zeros(len(rows), np.bool_)
        distance = rows.place[1:] - rows.place[:-1]
        anew[1:] = (rows.item[1:] == rows.item[:-1]) & (distance >= self._promises.window)
        at = np.flatnonzero(anew)
        np.maximum.at(born, np.searchsorted(objects.first, at, side="right") - 1, at)
        return anew, born
