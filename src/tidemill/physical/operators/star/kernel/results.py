"""Results: what meets through a version, and what is lost."""

from __future__ import annotations

from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.mechanisms.compiled import part
from tidemill.physical.operators.star.kernel.matches import met
from tidemill.physical.operators.star.layout import NONE, StarState


@part
def from_here(state: StarState, row: int, version: int, t: int, stored: bool) -> int:
    """The row or the next of its list that met the version; only `stored` ones, if asked to."""
    while row != NONE:
        mine = state.rows[row]
        if (
            mine.end > t
            and met(state, version, mine.arrival)
            and not (stored and mine.arrival == t)
        ):
            break
        row = mine.older
    return row


@part
def first(state: StarState, key: int, version: int, t: int, stored: bool) -> int:
    """The first row of a key that met the version; shadows come last."""
    row = from_here(state, state.keys[key].newest, version, t, stored)
    return row if row != NONE else from_here(state, state.keys[key + 1].newest, version, t, stored)


@part
def following(state: StarState, row: int, version: int, t: int, stored: bool) -> int:
    """The next such row, in the order that `first` began."""
    mine = state.rows[row]
    found = from_here(state, mine.older, version, t, stored)
    if found == NONE and mine.key % 2 == 0:
        found = from_here(state, state.keys[mine.key + 1].newest, version, t, stored)
    return found


@part
def meet(state: StarState, row: int, t: int, found: Ints, used: int) -> int:
    """All results whose first row that arrives, by stream, is this one."""
    edge = state.keys[state.rows[row].key].edge
    while edge != NONE:
        if met(state, state.edges[edge, 1], t) and has_partners(state, edge):
            used = combine(state, row, edge, t, found, used)
        edge = state.edges[edge, 0]
    return used


@part
def has_partners(state: StarState, edge: int) -> bool:
    """Whether every other stream has rows or shadows of the key that an edge leads to."""
    for other in range(state.rule.streams - 1):
        key = state.edges[edge, 2 + other]
        if state.keys[key].rows == 0 and state.keys[key + 1].rows == 0:
            return False
    return True


@part
def combine(state: StarState, row: int, edge: int, t: int, found: Ints, used: int) -> int:
    """All combinations with rows of the other streams, one after the other.

    There is a cursor for each of these; where one comes to the end of its list, the one before
    it goes on.
    """
    stream, version = state.rows[row].stream, state.edges[edge, 1]
    cursors, last, level = state.cursors[0], state.rule.streams - 2, 0
    if last < 0:
        return emit(state, row, version, t, found, used)
    # Of the streams before its own only stored rows: else rows of one instant would give
    # their result several times.
    cursors[0] = first(state, state.edges[edge, 2], version, t, stream > 0)
    while level >= 0:
        if cursors[level] != NONE and level < last:
            level += 1
            key = state.edges[edge, 2 + level]
            cursors[level] = first(state, key, version, t, level < stream)
            continue
        if cursors[level] != NONE:
            used = emit(state, row, version, t, found, used)
        else:
            level -= 1
        if level >= 0:
            cursors[level] = following(state, cursors[level], version, t, level < stream)
    return used


@part
def emit(state: StarState, row: int, version: int, t: int, found: Ints, used: int) -> int:
    """Write a result down, or take note that it is lost."""
    n, memory = state.rule.streams, state.memory[0]
    weight, importance, end = 0.0, state.rows[row].importance, state.rows[row].end
    found[used, state.rows[row].stream] = state.rows[row].place
    for level in range(n - 1):
        other = state.rows[state.cursors[0, level]]
        importance, end = min(importance, other.importance), min(end, other.end)
        if other.stream >= n:
            # A result with several shadows is lost as often as all of them together stand for rows.
            weight = max(weight, 1.0) * other.weight
        else:
            found[used, other.stream] = other.place
    if weight > 0.0:
        memory.results_lost += weight
        memory.importance_lost += weight * importance
        return used
    found[used, n], found[used, n + 1], found[used, n + 2] = version, t, end
    return used + 1
