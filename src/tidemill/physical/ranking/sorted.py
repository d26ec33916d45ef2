"""The running ranking that keeps all rows, in sorted lists."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tidemill.physical.arrays import Ints
from tidemill.physical.operator import starts
from tidemill.physical.ranking.lists import SortedLists
from tidemill.physical.ranking.operator import Events, Rank
from tidemill.physical.ranking.queue import Queue
from tidemill.physical.ranking.rows import Objects
from tidemill.physical.ranking.view import View
from tidemill.physical.topk.layout import Versions

if TYPE_CHECKING:
    from tidemill.physical.ranking.node import RankExec


class SortedRank(Rank):
    """Keeps the first objects in a view, and all rows in lists from which it is filled again.

    In a tick only objects are looked at whose rows come or go.
    """

    def __init__(self, node: RankExec) -> None:
        super().__init__(node)
        self._queue = Queue(self._rows, len(node.ranked.calls))
        self._lists = SortedLists(node.ranked, self._scoring, self._queue)
        self._view = View(node.ranked.limit)

    def sweep(self, slices: Sequence[pl.DataFrame], until: int) -> pl.DataFrame:
        batch = self._in_order(slices[0])
        new, times = self._queue.next, starts(batch)
        self._queue.append(self._arrivals(batch), self._known.capacity)
        objects = self._changing(new, times, until)
        ends = self._window.ends(objects.rows, times)
        self._window.arrive(times)
        self._promises.count(objects, self._known)
        self._lists.note(objects)
        events = self._events(objects, ends, until)
        versions = self._swept_versions(events, until)
        result = [self._results(self._earlier(versions, new), events, versions)]
        self._forget(objects, ends, until)
        if self._release.is_due(until, batch.height, self._view.open_count):
            result.append(self._cut(until))
        return pl.concat(result)
