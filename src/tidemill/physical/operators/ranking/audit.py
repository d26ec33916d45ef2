"""How right an approximate ranking is: some objects are followed exactly beside it.

One object of sixteen, by its hash, is followed such that all instances are kept that can still be
among the first. At the end of a tick the true scores of these objects are known. Those that should
be in the answer and are not count, each for sixteen. If an answer of k lacks m objects, the first
k - m of it are right: what lacks is above these. The share m / k is the one found so far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tidemill.physical.mechanisms.arrays import Bools, Ints
from tidemill.physical.operators.ranking.appearance import Hashes
from tidemill.physical.operators.ranking.known import KnownObjects
from tidemill.physical.operators.ranking.likely import PruningByTick
from tidemill.physical.operators.ranking.promises import Promises
from tidemill.physical.operators.ranking.pruning import Instances, not_dominated
from tidemill.physical.operators.ranking.rows import Objects, RankingRows
from tidemill.physical.operators.ranking.scoring import Scoring
from tidemill.physical.operators.ranking.window import Window
from tidemill.physical.operators.topk.firsts import ABSENT

if TYPE_CHECKING:
    from tidemill.physical.operators.ranking.node import RankExec

_SHARE_BITS = 4
SHARE = 2**_SHARE_BITS
"""One in this number of objects is followed."""


def followed(hashes: Hashes) -> Bools:
    """Which objects are followed: by the upper bits, as sketches go by the lower ones."""
    chosen: Bools = hashes >> np.uint64(64 - _SHARE_BITS) == 0
    return chosen


class Audit:
    """The objects that are followed exactly."""

    STATE = ("known", "rows")

    def __init__(
        self, node: RankExec, scoring: Scoring, window: Window, empty: RankingRows
    ) -> None:
        self._window = window
        self.known = KnownObjects(node)
        promises = Promises(node.ranked.streams, window.length)
        self._pruning = PruningBehind(scoring, promises, self.known, node.ranked.limit)
        self.rows = empty
        self._objects, self._ends = Objects.of(empty, 0), empty.time

    def arrive(self, rows: RankingRows, times: Ints) -> None:
        """Take rows of objects that are followed, and the times of all rows that come now."""
        self._objects = Objects.of(self.rows.followed_by(rows), len(self.rows))
        self._ends = self._window.ends(self._objects.rows, times)

    def above(self, key: int, until: int, others: RankingRows) -> pl.DataFrame:
        """The objects whose scores are above a key at the end of the tick.

        Then instances are let go for which too many of the others are too good.
        """
        objects, self._pruning.others = self._objects, others.take(~others.evicted)
        found, _, kept = self._pruning.prune(objects, self._ends, until)
        items = objects.rows.item[found.ranges.low]
        # The first instance of an object has all of its rows.
        is_first = np.append(True, items[1:] != items[:-1])[: len(items)]
        better = self.known.rows(items[is_first & (found.current > key)])
        self._keep(found, kept)
        return better

    def _keep(self, found: Instances, kept: Ints) -> None:
        objects, low = self._objects, found.ranges.low
        objects.rows.current[low], objects.rows.best[low] = found.current, found.best
        self.rows = objects.since(kept)
        self.known.forget(objects.item[kept == objects.bound])

    @property
    def nbytes(self) -> int:
        return self.rows.nbytes + self.known.nbytes


class PruningBehind(PruningByTick):
    """Drops instances that enough of the `others` dominate.

    Only the others count: objects that are followed may be among them, and would count twice.
    """

    others: RankingRows

    def _staying(self, objects: Objects, found: Instances) -> Bools:
        rows, low, others = objects.rows, found.ranges.low, self.others
        place = np.concatenate([rows.place[low], others.place])
        item = np.concatenate([rows.item[low], others.item + self._known.capacity])
        current = np.concatenate([np.full(len(low), ABSENT), others.current])
        best = np.concatenate([found.best, others.current])
        newest = np.argsort(-place, kind="stable")
        return not_dominated(newest, place, item, current, best, self._limit)[: len(low)]
