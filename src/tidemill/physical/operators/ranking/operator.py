"""The running ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import polars as pl

from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.mechanisms.release import OpenSweep
from tidemill.physical.operator import starts, with_validity
from tidemill.physical.operators.ranking.calls import Ranges
from tidemill.physical.operators.ranking.kernel.history import follow
from tidemill.physical.operators.ranking.keys import scores_of
from tidemill.physical.operators.ranking.known import KnownObjects
from tidemill.physical.operators.ranking.promises import Promises
from tidemill.physical.operators.ranking.pruning import Pruned, Pruning, not_monotone
from tidemill.physical.operators.ranking.rows import Objects, RankingRows, ScoreColumn, new_rows
from tidemill.physical.operators.ranking.scoring import Scoring
from tidemill.physical.operators.ranking.window import Window
from tidemill.physical.operators.topk.firsts import ABSENT, Firsts, TopKVersions
from tidemill.timeline import VALID_FROM

if TYPE_CHECKING:
    from tidemill.physical.operators.ranking.node import RankExec


class Events(NamedTuple):
    """From a time on an item has these rows; the key is that of its score."""

    time: Ints
    item: Ints
    ranges: Ranges
    calls: pl.DataFrame
    key: Ints


class Rank(OpenSweep):
    """Follows the scores of objects through time and keeps rows of those that may be first."""

    STATE: ClassVar[tuple[str, ...]] = (
        "_window",
        "_known",
        "_firsts",
        "_renewals",
        "_rows",
        "_evicted",
    )

    def __init__(self, node: RankExec) -> None:
        super().__init__(node.child.schema, eager=node.eager)
        self._node = node
        self._ranked = node.ranked
        self._scoring = Scoring(node)
        self._window = Window(node.ranked)
        self._known = KnownObjects(node)
        self._pruning = self._pruning_of(node)
        self._firsts = Firsts(node.ranked.limit, depth=self._known.ties.shape[1])
        self._renewals = 0  # of ties
        none = np.empty(0, np.int64)
        columns = [ScoreColumn.of(self._waiting[0].rows[name]) for name in self._scoring.arguments]
        self._rows = new_rows(none, none, none, none, columns)
        self._evicted = 0

    def _pruning_of(self, node: RankExec) -> Pruning:
        promises = Promises(node.ranked.streams, self._window.length)
        return Pruning(self._scoring, promises, self._known, node.ranked.limit)

    def sweep(self, slices: Sequence[pl.DataFrame], until: int) -> pl.DataFrame:
        objects, ends = self._arrive(self._in_order(slices[0]))
        events = self._events(objects, ends, until)
        pruned = self._pruning.prune(objects, ends, until)
        events = _joined(events, self._lowered(objects, pruned, ends, until))
        result = [self._results(objects, events, self._swept_versions(events, until))]
        self._keep(objects, pruned)
        if self._release.is_due(until, slices[0].height, self._firsts.open_count):
            result.append(self._cut(until))
        self._compact()
        return pl.concat(result)

    def _in_order(self, batch: pl.DataFrame) -> pl.DataFrame:
        """By time; where the window counts rows, those of one instant by their values."""
        if self._ranked.rows is None:
            return batch[np.argsort(starts(batch), kind="stable")]
        # Else the window would hold one or the other of them, depending on their arrival.
        by = [VALID_FROM, *self._node.child.schema.names]
        return batch[batch.select(pl.arg_sort_by(by, nulls_last=False)).to_series()]

    def _arrivals(self, batch: pl.DataFrame) -> RankingRows:
        """The rows of a batch."""
        return self._new(batch, self._window.places(starts(batch)), self._known)

    def _arrive(self, batch: pl.DataFrame) -> tuple[Objects, Ints]:
        """All rows object by object, and when they cease to hold."""
        times, arrivals = starts(batch), self._arrivals(batch)
        objects = Objects.of(self._rows.followed_by(arrivals), len(self._rows))
        ends = self._window.ends(objects.rows, times)
        self._window.arrive(times)
        return objects, ends

    def _new(self, batch: pl.DataFrame, places: Ints, known: KnownObjects) -> RankingRows:
        """Rows that come, of objects that become known."""
        columns = [ScoreColumn.of(batch[name]) for name in self._scoring.arguments]
        items, streams = known.find_or_add(batch), self._streams(batch)
        return new_rows(items, starts(batch), places, streams, columns)

    def _streams(self, batch: pl.DataFrame) -> Ints:
        """The stream of every row."""
        name = self._ranked.stream
        if name is None:
            return np.zeros(batch.height, np.int64)
        streams: Ints = batch[name].cast(pl.Int64).to_numpy()
        return streams

    def _events(self, objects: Objects, ends: Ints, until: int) -> Events:
        """What happens to objects before `until`, in the order of objects and time."""
        rows = objects.rows
        table = np.empty((4, 2 * len(rows)), np.int64)
        count = follow(objects.first, objects.new, objects.bound, rows.time, ends, until, table)
        time, number, low, high = table[:, :count]
        items, ranges = objects.item[number], Ranges(low, high)
        calls = self._scoring.calls(rows, ranges)
        key = self._scoring.keys(calls, items, self._known)
        fell = (items[1:] == items[:-1]) & (low[1:] == low[:-1]) & (key[1:] < key[:-1])
        if fell.any():
            raise not_monotone()
        return Events(time, items, ranges, calls, np.where(low < high, key, ABSENT))

    def _lowered(self, objects: Objects, pruned: Pruned, ends: Ints, until: int) -> Events:
        """What is left of objects that lose rows: they are not among the first, and never were."""
        found, kept = pruned.instances, pruned.kept
        held = np.append(np.flatnonzero(ends >= until), len(ends))
        before = held[np.searchsorted(held, objects.first)]
        at = np.flatnonzero((before < objects.bound) & (kept > before))
        gone = kept[at] == objects.bound[at]
        place = np.where(gone, 0, np.searchsorted(found.ranges.low, kept[at]))
        calls = found.calls[place] if found.calls.height else _no_calls(found.calls, len(at))
        key = np.full(len(at), ABSENT)
        key[~gone] = found.current[place[~gone]]
        ranges = Ranges(kept[at], objects.bound[at])
        return Events(np.full(len(at), until - 1), objects.item[at], ranges, calls, key)

    def _swept_versions(self, events: Events, until: int) -> TopKVersions:
        if self._renewals < self._known.renewals:
            self._firsts.retie(self._known.ties)
            self._renewals = self._known.renewals
        # Stable: what is left of an object at the end comes after all that happened to it.
        order = np.argsort(events.time, kind="stable")
        items = events.item[order]
        versions = self._firsts.sweep(
            events.time[order], items, events.key[order], self._known.ties[items], until
        )
        event = np.where(versions.event < 0, -1, order[versions.event] if len(order) else -1)
        return versions._replace(event=event)

    def _results(self, objects: Objects, events: Events, versions: TopKVersions) -> pl.DataFrame:
        """Rows for versions; what began earlier has the rows that the object had then."""
        old = versions.event < 0
        order = np.concatenate([np.flatnonzero(old), np.flatnonzero(~old)])
        item, event, since, end = (column[order] for column in versions)
        count = int(np.count_nonzero(old))
        at = np.searchsorted(objects.item, item[:count])
        sorted_at, back = np.unique(at, return_inverse=True)
        ranges = Ranges(objects.first[sorted_at], objects.new[sorted_at])
        calls = self._scoring.calls(objects.rows, ranges)[back]
        calls = pl.concat([calls, events.calls[event[count:]]])
        return with_validity(self._scoring.results(calls, item, self._known), since, end)

    def _keep(self, objects: Objects, pruned: Pruned) -> None:
        rows, kept = objects.rows, pruned.kept
        low, stays = pruned.instances.ranges.low, pruned.stays
        self._evicted += int(np.count_nonzero(~stays & ~rows.evicted[low]))
        # Rows with which no instance begins count as evicted, too.
        rows.evicted[:] = True
        rows.evicted[low] = ~stays
        rows.current[low], rows.best[low] = pruned.instances.current, pruned.instances.best
        self._rows = objects.since(kept)
        self._known.forget(objects.item[kept == objects.bound])

    def _compact(self) -> None:
        capacity, items = self._known.capacity, self._known.compact()
        if items is not None:
            moved = np.empty(capacity, np.int64)
            moved[items] = np.arange(len(items))
            self._renumber(items, moved)

    def _renumber(self, items: Ints, moved: Ints) -> None:
        """Go on with the new numbers of items; all others were forgotten."""
        self._rows.item[:] = moved[self._rows.item]
        self._firsts.keep(items)

    def _cut(self, until: int) -> pl.DataFrame:
        objects = Objects.of(self._rows, len(self._rows))
        return self._results(objects, self._no_events(), self._firsts.cut(until))

    def _no_events(self) -> Events:
        none = np.empty(0, np.int64)
        calls = self._scoring.calls(self._rows, Ranges(none, none))
        return Events(none, none, Ranges(none, none), calls, none)

    @property
    def instances(self) -> pl.DataFrame:
        """The instances that are retained: keys, since when (t), current and best score."""
        rows = self._rows.take(~self._rows.evicted)
        dtype = self._scoring.dtype
        return self._known.rows(rows.item).with_columns(
            pl.Series("t", rows.place, pl.Int64),
            scores_of(rows.current, dtype).alias("current"),
            scores_of(rows.best, dtype).alias("best"),
        )

    @property
    def measures(self) -> dict[str, float]:
        return {
            "ranking_instances": float(np.count_nonzero(~self._rows.evicted)),
            "ranking_rows": float(len(self._rows)),
            "ranking_window_rows": self._window.count(self._swept),
            "ranking_evicted": float(self._evicted),
        }

    @property
    def state_rows(self) -> int:
        return len(self._rows) + self.waiting_rows

    @property
    def state_bytes(self) -> int:
        return self._rows.nbytes + self._known.nbytes + self._firsts.nbytes + self.waiting_bytes


def _no_calls(like: pl.DataFrame, size: int) -> pl.DataFrame:
    """Rows whose columns are not read."""
    return like.clear(size)


def _joined(first: Events, second: Events) -> Events:
    ranges = Ranges(*map(np.concatenate, zip(first.ranges, second.ranges, strict=True)))
    time, item, key = (
        np.concatenate([getattr(first, name), getattr(second, name)])
        for name in ("time", "item", "key")
    )
    return Events(time, item, ranges, pl.concat([first.calls, second.calls]), key)
