"""Streams in which objects show up by and by, and not all of them in all: for rankings.

As Haghani, Michel and Aberer make them (2009): with probability ξ a row is about an object that
is among the last C of another stream, else about one that is new. No object comes twice in one
stream. Where all recent objects have been in the stream already, a new one comes after all; so
more than (n - 1) / n of the rows of n streams are never about known objects, whatever ξ is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.mechanisms.compiled import compiled_for, part

Floats = npt.NDArray[np.float64]
State = tuple[Ints, Ints, Ints, Ints, Ints, Ints]
"""The last objects of each stream, in a ring; those that may come in each stream, and where these
are in that list, by object; in how many rings an object is; in which streams it has been, as bits;
how many objects each ring has had, and each list has."""
Values = Callable[[np.random.Generator, int], Floats]
"""Draws so many values."""


@dataclass(frozen=True)
class Arrivals:
    """Rows of all streams in the order they come, one at every instant."""

    stream: Ints
    id: Ints
    value: Floats

    def __len__(self) -> int:
        return len(self.id)

    def table(self) -> pa.Table:
        """As a table; `t` counts rows from 0."""
        t = np.arange(len(self))
        return pa.table({"stream": self.stream, "id": self.id, "value": self.value, "t": t})


def uniform(random: np.random.Generator, count: int) -> Floats:
    """Values between 0 and 1."""
    return random.random(count)


@dataclass(frozen=True)
class IncompleteStreams:
    """So many streams; `recent` is C, the number of objects of each stream that may recur.

    Streams take turns, or each row is of any stream if not `turns`. The object that recurs is one
    that the stream has not had; or, if `blind`, any of another stream, and a new one comes after
    all if the stream has had it.

    >>> rows = IncompleteStreams(3, recent=50, xi=0.5).generate(10_000, seed=1)
    >>> pairs = np.stack([rows.stream, rows.id])
    >>> np.unique(pairs, axis=1).shape, len(np.unique(rows.id))
    ((2, 10000), 50...)
    """

    streams: int = 3
    recent: int = 1000
    xi: float = 0.5
    turns: bool = True
    blind: bool = False

    def generate(self, rows: int, seed: int, values: Values = uniform) -> Arrivals:
        """Rows, by chance; the same ones for the same seed."""
        random = np.random.default_rng(seed)
        stream = np.arange(rows) % self.streams
        if not self.turns:
            stream = random.integers(0, self.streams, rows)
        known = random.random(rows) < self.xi
        lots = random.integers(0, 2**31, rows)
        objects = np.empty(rows, np.int64)
        _draw(stream, np.where(known, lots, -1), self._state(rows), self.blind, objects)
        # Numbers tell nothing of when an object came first.
        return Arrivals(stream, random.permutation(rows)[objects], values(random, rows))

    def _state(self, rows: int) -> State:
        lists = np.zeros((self.streams, self.recent), np.int64)
        pools = np.zeros((self.streams, self.streams * self.recent), np.int64)
        places = np.full((self.streams, rows), -1)
        counts = np.zeros((2, self.streams), np.int64)
        return lists, pools, places, np.zeros(rows, np.int64), np.zeros(rows, np.int64), counts


@part
def _add(state: State, stream: int, item: int) -> None:
    """An object becomes one that may come in a stream."""
    _, pools, places, _, _, counts = state
    places[stream, item] = counts[1, stream]
    pools[stream, counts[1, stream]] = item
    counts[1, stream] += 1


@part
def _remove(state: State, stream: int, item: int) -> None:
    """It is none any more, if it was; the last one takes its place."""
    _, pools, places, _, _, counts = state
    place = places[stream, item]
    if place >= 0:
        counts[1, stream] -= 1
        last = pools[stream, counts[1, stream]]
        pools[stream, place] = last
        places[stream, last] = place
        places[stream, item] = -1


@part
def _forget(state: State, stream: int) -> None:
    """The oldest object of a full list leaves it."""
    lists, _, _, listed, _, counts = state
    if counts[0, stream] >= lists.shape[1]:
        oldest = lists[stream, counts[0, stream] % lists.shape[1]]
        listed[oldest] -= 1
        if listed[oldest] == 0:
            for other in range(lists.shape[0]):
                _remove(state, other, oldest)


@part
def _send(state: State, stream: int, item: int) -> None:
    """An object comes in a stream, and may now come in those that have not had it."""
    lists, _, places, listed, sent, counts = state
    _remove(state, stream, item)
    _forget(state, stream)
    lists[stream, counts[0, stream] % lists.shape[1]] = item
    counts[0, stream] += 1
    listed[item] += 1
    sent[item] |= 1 << stream
    for other in range(lists.shape[0]):
        if not sent[item] >> other & 1 and places[other, item] < 0:
            _add(state, other, item)


_INTS, _TABLE = np.empty(0, np.int64), np.empty((0, 0), np.int64)


@part
def _suitable(state: State, stream: int, lot: int) -> int:
    """One of the objects that the stream has not had, -1 if there is none."""
    suitable = state[5][1, stream]
    return int(state[1][stream, lot % suitable]) if suitable else -1


@part
def _any(state: State, stream: int, lot: int) -> int:
    """One of the last objects of another stream, -1 if this stream has had it."""
    lists, _, _, _, sent, counts = state
    others = lists.shape[0] - 1
    if not others:
        return -1
    other = lot % others
    other += other >= stream
    size = min(counts[0, other], lists.shape[1])
    item = int(lists[other, lot // others % size]) if size else -1
    return -1 if item >= 0 and sent[item] >> stream & 1 else item


@compiled_for(_INTS, _INTS, (_TABLE, _TABLE, _TABLE, _INTS, _INTS, _TABLE), True, _INTS)
def _draw(stream: Ints, lots: Ints, state: State, blind: bool, objects: Ints) -> None:
    """The object of every row, by lot; a new one if the lot is negative."""
    fresh = 0
    for at in range(len(stream)):
        own, item = stream[at], -1
        if lots[at] >= 0:
            item = _any(state, own, lots[at]) if blind else _suitable(state, own, lots[at])
        if item < 0:
            item = fresh
            fresh += 1
        _send(state, own, item)
        objects[at] = item
