"""The exact join of two archived streams through a relation: who meets whom, and when."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidemill.timeline import Instants, add_all

Rows = np.ndarray
"""Numbers of rows of a table."""


class Looked(NamedTuple):
    """Rows of a stream with the rows of the relation that they found on arrival.

    `rows[i]` found `facts[i]`; a row stands there once for each. `times` and `importances` are
    those of all rows, which live for `life` after they come.
    """

    rows: Rows
    facts: Rows
    times: Instants
    importances: np.ndarray
    life: int


class Meetings(NamedTuple):
    """Results: a row of each stream, the row of the relation between them, time and importance."""

    r: Rows
    s: Rows
    f: Rows
    times: Instants
    importances: np.ndarray

    def only(self, chosen: np.ndarray) -> Meetings:
        """Some of them."""
        return Meetings(*(part[chosen] for part in self))


def meet(r: Looked, s: Looked) -> Meetings:
    """All results, by their times; of two rows, the older one must live when the other comes.

    >>> ones = np.ones(2)
    >>> r = Looked(np.array([0, 1]), np.array([4, 5]), np.array([1, 2]), ones, life=3)
    >>> s = Looked(np.array([0, 1]), np.array([4, 4]), np.array([3, 4]), ones, life=3)
    >>> meet(r, s)[:4]
    (array([0]), array([0]), array([4]), array([3]))
    """
    order = np.lexsort((s.times[s.rows], s.facts))
    low, high = _partners(r, s, order)
    counts = np.maximum(high - low, 0)
    first = np.repeat(np.arange(len(r.rows)), counts)
    # Positions within each range of partners: a running number minus that of the range's start.
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    left, right = r.rows[first], s.rows[order[low[first] + within]]
    times = np.maximum(r.times[left], s.times[right])
    importances = np.minimum(r.importances[left], s.importances[right])
    found = Meetings(left, right, r.facts[first], times, importances)
    return found.only(np.lexsort((found.f, found.s, found.r, times)))


def _partners(r: Looked, s: Looked, order: Rows) -> tuple[Rows, Rows]:
    """For each looked-up row of r, the range of those of s, in order, that it meets."""
    instants = np.unique(s.times)
    step = len(instants) + 1
    places = s.facts[order] * step + np.searchsorted(instants, s.times[s.rows][order])
    mine = r.times[r.rows]
    # s lives when r comes: s + life > r; r lives when s comes: s < r + life.
    oldest = np.searchsorted(instants, -add_all(-mine, s.life), side="right")
    newest = np.searchsorted(instants, add_all(mine, r.life), side="left")
    base = r.facts * step
    return np.searchsorted(places, base + oldest), np.searchsorted(places, base + newest)
