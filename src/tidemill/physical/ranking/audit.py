"""How right an approximate ranking is: some objects are followed exactly beside it.

Of every sixteen objects one is, by its hash, such that all instances are kept that can still be
among the first. At the end of a tick it is known of these objects whether their true scores are
above the last one of the answer though they are not in it; each stands for sixteen. An answer of
k objects that lacks x of those above its last one is right in about k of k + x of its places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tidemill.physical.arrays import Bools, Ints
from tidemill.physical.ranking.appearance import Hashes
from tidemill.physical.ranking.kernel.dominance import undominated
from tidemill.physical.ranking.known import Known
from tidemill.physical.ranking.promises import Promises
from tidemill.physical.ranking.pruning import Instances, instances_of, kept_from
from tidemill.physical.ranking.rows import Objects, Rows
from tidemill.physical.ranking.scoring import Scoring
from tidemill.physical.ranking.window import Window
from tidemill.physical.topk.firsts import ABSENT

if TYPE_CHECKING:
    from tidemill.physical.ranking.node import RankExec

_SHARE_BITS = 4
SHARE = 2**_SHARE_BITS
"""One object of so many is followed."""


def followed(hashes: Hashes) -> Bools:
    """Which objects are followed: by the upper bits, as sketches go by the lower ones."""
    chosen: Bools = hashes >> np.uint64(64 - _SHARE_BITS) == 0
    return chosen


class Audit:
    """The objects that are followed exactly."""

    def __init__(self, node: RankExec, scoring: Scoring, window: Window, empty: Rows) -> None:
        self._limit = node.ranked.limit
        self._scoring, self._window = scoring, window
        self.known = Known(node)
        self._promises = Promises(node.ranked.streams, window.length)
        self.rows = empty
        self._objects, self._ends = Objects.of(empty, 0), empty.time

    def arrive(self, rows: Rows, times: Ints) -> None:
        """Take rows of objects that are followed, and the times of all rows that come now."""
        self._objects = Objects.of(self.rows.followed_by(rows), len(self.rows))
        self._ends = self._window.ends(self._objects.rows, times)
        self._promises.count(self._objects, self.known)

    def above(self, key: int, until: int, others: Rows) -> pl.DataFrame:
        """The objects whose scores are above a key at the end of the tick.

        Then instances are let go for which `limit` of the others are too good.
        """
        found = instances_of(
            self._objects, self._ends, until, self._scoring, self._promises, self.known
        )
        items = self._objects.rows.item[found.ranges.low]
        # The first instance of an object has all of its rows.
        is_first = np.append(True, items[1:] != items[:-1])[: len(items)]
        better = self.known.rows(items[is_first & (found.current > key)])
        self._keep(found, self._staying(found, others))
        return better

    def _staying(self, found: Instances, others: Rows) -> Bools:
        rows, low = self._objects.rows, found.ranges.low
        others = others.take(~others.evicted)
        place = np.concatenate([rows.place[low], others.place])
        item = np.concatenate([rows.item[low], others.item + self.known.capacity])
        # The others may be the same objects: only they count, or one would count twice.
        current = np.concatenate([np.full(len(low), ABSENT), others.current])
        best = np.concatenate([found.best, others.current])
        newest = np.argsort(-place, kind="stable")
        capacity = int(item.max(initial=-1)) + 1
        heap, keys = np.empty(self._limit, np.int64), np.empty(capacity, np.int64)
        stays, where = np.zeros(len(place), np.bool_), np.full(capacity, -1)
        undominated(newest, place, item, current, best, heap, keys, where, stays)
        return stays[: len(low)]

    def _keep(self, found: Instances, stays: Bools) -> None:
        objects = self._objects
        kept = kept_from(objects, found, stays)
        self.rows = objects.since(kept)
        self.known.forget(objects.item[kept == objects.bound])

    @property
    def nbytes(self) -> int:
        return self.rows.nbytes + self.known.nbytes
