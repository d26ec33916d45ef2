"""The running ranking that keeps all rows, in sorted lists."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tidemill.physical.mechanisms.arrays import Bools, Ints, distinct
from tidemill.physical.operator import starts
from tidemill.physical.operators.ranking.lists import SortedLists
from tidemill.physical.operators.ranking.operator import Events, Rank
from tidemill.physical.operators.ranking.promises import Promises
from tidemill.physical.operators.ranking.queue import Queue
from tidemill.physical.operators.ranking.rows import Objects, RankingRows
from tidemill.physical.operators.ranking.view import RankingView
from tidemill.physical.operators.topk.layout import TopKVersions

if TYPE_CHECKING:
    from tidemill.physical.operators.ranking.node import RankExec


class SortedRank(Rank):
    """Keeps the first objects in a view, and all rows in lists from which it is filled again.

    In a tick only objects are looked at whose rows come or go.
    """

    STATE = ("_queue", "_lists", "_view")

    def __init__(self, node: RankExec) -> None:
        super().__init__(node)
        self._queue = Queue(self._rows, len(node.ranked.calls))
        self._lists = SortedLists(node.ranked, self._scoring, self._queue)
        self._view = RankingView(node.ranked.limit)
        self._promises = Promises(node.ranked.streams, self._window.length)

    def sweep(self, slices: Sequence[pl.DataFrame], until: int) -> pl.DataFrame:
        batch = self._in_order(slices[0])
        new = self._queue.next
        objects, ends = self._arrive_in_queue(batch, until)
        self._lists.note(objects)
        events = self._events(objects, ends, until)
        versions = self._swept_versions(events, until)
        result = [self._results(self._rows_of(versions, new), events, versions)]
        self._forget(objects, until)
        if self._release.is_due(until, batch.height, self._view.open_count):
            versions = self._view.cut(until)
            rows = self._rows_of(versions, self._queue.next)
            result.append(self._results(rows, self._no_events(), versions))
        self._compact()
        return pl.concat(result)

    def _arrive_in_queue(self, batch: pl.DataFrame, until: int) -> tuple[Objects, Ints]:
        """The rows of objects of which any come or go, and when they cease to hold."""
        new, times, arrivals = self._queue.next, starts(batch), self._arrivals(batch)
        self._queue.append(arrivals, self._known.capacity)
        going = self._queue.items_before(self._window.gone(until, len(times)))
        objects = self._queue.objects(distinct(np.concatenate([arrivals.item, going])), new)
        ends = self._window.ends(objects.rows, times)
        self._window.arrive(times)
        self._promises.count(objects, self._begins_anew(objects.rows), self._known)
        return objects, ends

    def _begins_anew(self, rows: RankingRows) -> Bools:
        """The rows at which nothing of their objects is left in the window."""
        anew = np.ones(len(rows), np.bool_)
        anew[1:] = (rows.item[1:] != rows.item[:-1]) | (
            rows.place[1:] - rows.place[:-1] >= self._promises.window
        )
        return anew

    def _swept_versions(self, events: Events, until: int) -> TopKVersions:
        order = np.argsort(events.time, kind="stable")
        times, items, keys = events.time[order], events.item[order], events.key[order]
        lists = partial(self._lists.walk, known=self._known)
        versions = self._view.sweep(times, items, keys, self._known.ties, lists)
        event = np.where(versions.event < 0, -1, order[versions.event] if len(order) else -1)
        return versions._replace(event=event)

    def _rows_of(self, versions: TopKVersions, new: int) -> Objects:
        """The rows of objects that are among the first since an earlier tick."""
        return self._queue.objects(distinct(versions.item[versions.event < 0]), new)

    def _forget(self, objects: Objects, until: int) -> None:
        """Let rows go that hold no more, and objects of which no row is left."""
        self._queue.drop_before(self._window.gone(until, 0))
        last = objects.order[objects.bound - 1]
        self._known.forget(objects.item[last < self._queue.first])

    def _renumber(self, items: Ints, moved: Ints) -> None:
        self._queue.renumber(items, moved)
        self._view.renumber(items, moved)

    @property
    def entries(self) -> pl.DataFrame:
        """The sorted lists from the top: keys, stream, call, since when (t), and value."""
        return self._lists.entries(self._known)

    @property
    def measures(self) -> dict[str, float]:
        return {
            "ranking_instances": float(len(self._queue)),
            "ranking_rows": float(len(self._queue)),
            "ranking_window_rows": self._window.count(self._swept),
            "ranking_evicted": 0.0,
            "ranking_recomputed": float(self._view.recomputed),
        }

    @property
    def state_rows(self) -> int:
        return len(self._queue) + self.waiting_rows

    @property
    def state_bytes(self) -> int:
        kept = (self._queue, self._lists, self._view, self._known)
        return sum(each.nbytes for each in kept) + self.waiting_bytes
