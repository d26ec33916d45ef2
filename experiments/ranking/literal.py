"""The algorithms of the text, row by row, as they are defined: to try many settings in little time.

An operator that takes single rows spends its time on being called. This here is compiled, for sums
of values, streams that show an object once, and a row at every instant; what is likely is counted,
not estimated. A test holds it against the operator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from experiments.ranking.evaluate import Answer, Question, instants_of, quality
from experiments.ranking.incomplete import Arrivals
from tidemill.physical.mechanisms.arrays import Array, Ints
from tidemill.physical.mechanisms.compiled import compiled_for, part

NONE = -1


@dataclass(frozen=True)
class Tables:
    """What the algorithms work on, as arrays."""

    stream: Ints
    item: Ints
    value: Array
    row: Ints  # of an object in a stream, if it is kept
    stays: Array  # whether a row begins an instance that is retained
    seen: Ints  # streams in which an object has been, while it is known, as bits
    inside: Ints  # streams that show an object in the window, as bits
    alike: Ints  # how many objects have the same of these
    chance: Array  # of a stream, for each set of streams
    live: Ints  # rows that begin retained instances, the oldest first
    top: Array  # the largest scores so far, by object
    first: Ints  # the objects that have the k largest of these
    count: Ints  # of live rows, of first objects

    @property
    def arrays(self) -> tuple[Array, ...]:
        return tuple(getattr(self, name) for name in self.__dataclass_fields__)


class Literal:
    """A run; `confidence` is the part of what is likely that counts, None of the exact algorithm.

    >>> from experiments.ranking.incomplete import IncompleteStreams
    >>> rows = IncompleteStreams(3, recent=20).generate(1000, seed=1)
    >>> exact, likely = (Literal(rows, 3, 300, 10, confidence) for confidence in (None, 1.0))
    >>> exact.advance(1000), likely.advance(1000), exact.instances > likely.instances
    (None, None, True)
    """

    def __init__(
        self, rows: Arrivals, streams: int, window: int, limit: int, confidence: float | None
    ) -> None:
        ids, item = np.unique(rows.id, return_inverse=True)
        self._ids, self._now, self._limit = ids, 0, limit
        self._window, self._confidence = window, -1.0 if confidence is None else confidence
        count, sets = len(ids), 1 << streams
        self._tables = Tables(
            rows.stream.astype(np.int64),
            item.astype(np.int64),
            rows.value,
            np.full((count, streams), NONE),
            np.zeros(len(rows), bool),
            np.zeros(count, np.int64),
            np.zeros(count, np.int64),
            np.zeros(sets, np.int64),
            np.ones((sets, streams)),
            np.zeros(len(rows), np.int64),
            np.full(count, -1.0),
            np.zeros(limit, np.int64),
            np.zeros(2, np.int64),
        )

    def advance(self, until: int) -> None:
        """Take all rows before an instant."""
        _run(self._tables.arrays, self._window, self._confidence, self._now, until)
        self._now = until

    @property
    def instances(self) -> int:
        """How many are retained."""
        return int(self._tables.count[0])

    @property
    def objects(self) -> int:
        """Of how many objects."""
        return len(np.unique(self._tables.item[self._tables.live[: self.instances]]))

    def answer(self) -> Answer:
        """The first objects now."""
        row, value = self._tables.row, np.append(self._tables.value, 0.0)
        scores = value[row].sum(axis=1)
        held = np.flatnonzero((row != NONE).any(axis=1))
        first = held[np.lexsort([held, -scores[held]])][: self._limit]
        return list(zip(self._ids[first].tolist(), scores[first].tolist(), strict=True))


class Tried(NamedTuple):
    """Means over all evaluations; of what is kept, both instances and objects are counted."""

    instances: float
    objects: float
    precision: float
    error: float


def tried(rows: Arrivals, question: Question, confidence: float | None) -> Tried:
    """What `evaluate` finds, in less time."""
    run = Literal(rows, question.streams, question.window, question.limit, confidence)
    found = []
    for now in instants_of(rows, question):
        run.advance(now + 1)
        good = quality(question.answer(rows, now), run.answer())
        found.append((run.instances, run.objects, *good))
    return Tried(*np.mean(found, axis=0).tolist())


# Compiled functions take the tables as a tuple.


@part
def _move(tables, now):
    """A row comes into the window, or leaves it."""
    stream, item, inside, alike = tables[0][now], tables[1][now], tables[6], tables[7]
    alike[inside[item]] -= 1
    inside[item] ^= 1 << stream
    alike[inside[item]] += 1


@part
def _expect(tables, confidence):
    """How likely each stream shows an object, for each set of streams that do."""
    alike, chance = tables[7], tables[8]
    for known in range(1, len(alike)):
        for stream in range(chance.shape[1]):
            both = known | 1 << stream
            all_of, some = 0, 0
            for found in range(len(alike)):
                all_of += alike[found] if found & known == known else 0
                some += alike[found] if found & both == both else 0
            chance[known, stream] = min(1.0, confidence * (some / all_of if all_of else 1.0))


@part
def _scores(tables, begin):
    """The current and the best score of the instance that a row begins."""
    item, value, row, seen, chance = tables[1][begin], tables[2], tables[3], tables[5], tables[8]
    current, best = 0.0, 0.0
    for stream in range(row.shape[1]):
        if row[item, stream] >= begin:
            current += value[row[item, stream]]
        if not seen[item] >> stream & 1:
            best += chance[seen[item], stream]
    return current, current + best


@part
def _threshold(tables):
    """The least of the k largest scores; -1 if there are fewer."""
    top, first, count = tables[10], tables[11], tables[12]
    least = -1.0
    if count[1] == len(first):
        least = top[first[0]]
        for place in range(1, len(first)):
            least = min(least, top[first[place]])
    return least


@part
def _raise(tables, item, score):
    """An object has a score; it takes the place of the least one, if that is less."""
    top, first, count = tables[10], tables[11], tables[12]
    if score <= top[item]:
        return
    place = 0
    while place < count[1] and first[place] != item:
        place += 1
    if place == len(first):
        place = 0
        for other in range(1, len(first)):
            if top[first[other]] < top[first[place]]:
                place = other
        if top[first[place]] >= score:
            place = NONE
        else:
            top[first[place]] = -1.0  # it may come back, with an older instance that has more
    if place != NONE:
        count[1] = max(count[1], place + 1)
        first[place] = item
        top[item] = score


@part
def _judge(tables, before):
    """From the newest instance to the oldest: it stays unless k later objects have more."""
    item, stays, live, top, first, count = (
        tables[1],
        tables[4],
        tables[9],
        tables[10],
        tables[11],
        tables[12],
    )
    for place in range(count[0] - 1, -1, -1):
        begin = live[place]
        current, best = _scores(tables, begin)
        stays[begin] = begin >= before and not _threshold(tables) > best
        _raise(tables, item[begin], current)
    for place in range(count[1]):
        top[first[place]] = -1.0
    count[1] = 0


@part
def _drop(tables, item):
    """Rows that no instance needs go, and an object without instances is forgotten."""
    row, stays, seen = tables[3], tables[4], tables[5]
    oldest = len(stays)
    for stream in range(row.shape[1]):
        if row[item, stream] != NONE and stays[row[item, stream]]:
            oldest = min(oldest, row[item, stream])
    for stream in range(row.shape[1]):
        if row[item, stream] < oldest:
            row[item, stream] = NONE
    if oldest == len(stays):
        seen[item] = 0


@part
def _prune(tables, before):
    item, stays, live, count = tables[1], tables[4], tables[9], tables[12]
    _judge(tables, before)
    kept = 0
    for place in range(count[0]):
        begin = live[place]
        if stays[begin]:
            live[kept] = begin
            kept += 1
        else:
            _drop(tables, item[begin])
    count[0] = kept


def _examples():
    ints, table = np.empty(0, np.int64), np.empty((0, 0), np.int64)
    floats, bits = np.empty(0), np.empty(0, bool)
    chances = np.empty((0, 0))
    tables = (
        ints,
        ints,
        floats,
        table,
        bits,
        ints,
        ints,
        ints,
        chances,
        ints,
        floats,
        ints,
        ints,
    )
    return tables, 0, 0.0, 0, 0


@compiled_for(*_examples())
def _run(tables, window, confidence, begin, end):
    """Take rows; a negative confidence expects all that can come."""
    stream, item, row, stays, seen, live, count = (
        tables[0],
        tables[1],
        tables[3],
        tables[4],
        tables[5],
        tables[9],
        tables[12],
    )
    for now in range(begin, end):
        _move(tables, now)
        if now >= window:
            _move(tables, now - window)
        if confidence >= 0:
            _expect(tables, confidence)
        seen[item[now]] |= 1 << stream[now]
        row[item[now], stream[now]] = now
        stays[now] = True
        live[count[0]] = now
        count[0] += 1
        _prune(tables, now - window + 1)
