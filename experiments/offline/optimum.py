"""Until when each row of two streams is best kept, and what meets then."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from experiments.offline.flow import Chains, best_flow
from experiments.offline.meetings import Meetings, Rows
from tidemill.timeline import Instants

By = Literal["importance", "count"]

NEVER = np.iinfo(np.int64).min
"""The instant until which a row is kept that is not kept at all."""


class Optimum(NamedTuple):
    """The instant of the last meeting for which each row is kept, and which meetings come about."""

    r: Instants
    s: Instants
    chosen: np.ndarray


def optimum(
    met: Meetings, r_times: Instants, s_times: Instants, slots: int, by: By = "importance"
) -> Optimum:
    """The best use of so many places for each stream.

    What meets on arrival needs no place. The rest falls into two questions that have nothing to do
    with each other: which rows of r to keep for rows of s that come later, and the other way round.

    >>> numbers = [np.array(part) for part in ([0, 0, 1, 1], [0, 1, 0, 1], [0] * 4, [1, 2, 1, 2])]
    >>> met = Meetings(*numbers, np.array([3.0, 5.0, 2.0, 2.0]))
    >>> found = optimum(met, np.array([0, 1]), np.array([1, 2]), slots=1)
    >>> found.r[0], found.r[1] == NEVER, found.chosen
    (np.int64(2), np.True_, array([ True,  True,  True, False]))
    """
    worth = weights(met, by)
    earlier, later = r_times[met.r], s_times[met.s]
    r_waits, s_waits = earlier < later, earlier > later
    r_until = _until(met.r[r_waits], met.times[r_waits], worth[r_waits], r_times, slots)
    s_until = _until(met.s[s_waits], met.times[s_waits], worth[s_waits], s_times, slots)
    r_lasts, s_lasts = met.times <= r_until[met.r], met.times <= s_until[met.s]
    chosen = (r_waits & r_lasts) | (s_waits & s_lasts) | ~(r_waits | s_waits)
    return Optimum(r_until, s_until, chosen)


def weights(met: Meetings, by: By) -> np.ndarray:
    """What each meeting counts; among the largest results, the most important one is taken."""
    if by == "importance":
        return met.importances
    # All importances together are less than one result.
    share: np.ndarray = met.importances / (1 + 2 * met.importances.sum())
    return 1 + share


def _until(rows: Rows, times: Instants, worth: np.ndarray, own: Instants, slots: int) -> Instants:
    """For every row of a stream the last meeting for which it is kept."""
    until = np.full(len(own), NEVER)
    if len(rows):
        kept, lasts, chains = chains_of(rows, times, worth, own)
        steps = best_flow(chains, slots)
        until[kept[steps >= 0]] = lasts[steps[steps >= 0]]
    return until


def chains_of(
    rows: Rows, times: Instants, worth: np.ndarray, own: Instants
) -> tuple[Rows, Instants, Chains]:
    """The rows that wait for a meeting, the last instant of each step, and what steps give.

    Only the instants at which such rows arrive matter: no other one wants a place. Meetings between
    two of these instants are one step.
    """
    order = np.lexsort((times, rows, own[rows]))
    rows, times, worth = rows[order], times[order], worth[order]
    instants = np.unique(own[rows])
    exits = np.searchsorted(instants, times, side="right")
    new_row = np.append(True, rows[1:] != rows[:-1])
    first = np.flatnonzero(new_row | np.append(True, exits[1:] != exits[:-1]))
    last = np.append(first[1:], len(rows)) - 1
    begins = np.flatnonzero(new_row)
    offset = np.append(np.searchsorted(first, begins), len(first))
    # Sums of each row's own: what has come before it is taken off again.
    total = np.append(0, np.cumsum(worth))
    gains = total[last + 1] - np.repeat(total[begins], np.diff(offset))
    start = np.searchsorted(instants, own[rows[begins]])
    return rows[begins], times[last], Chains(len(instants), start, offset, exits[first], gains)
