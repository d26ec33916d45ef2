"""Rows that come and go, and the versions that let them."""

from __future__ import annotations

from typing import Any

from tidemill.physical.mechanisms.compiled import part
from tidemill.physical.operators.star.kernel.heaps import pull
from tidemill.physical.operators.star.kernel.lists import free, link, unlink, unschedule
from tidemill.physical.operators.star.kernel.matches import is_dynamic, met, tally
from tidemill.physical.operators.star.layout import NONE, StarState


@part
def admit(state: StarState, arrival: Any, t: int) -> int:
    """Give an arriving row a number, if it matches an active version."""
    memory, edge, active = state.memory[0], state.keys[arrival.key].edge, 0
    while edge != NONE:
        active += met(state, state.edges[edge, 1], t)
        # How many versions it met matters only if they end; else one is enough.
        edge = state.edges[edge, 0] if state.rule.changing else NONE
    if active == 0:
        memory.filtered += 1
        return NONE
    memory.free -= 1
    row = state.free[memory.free]
    copy(arrival, state.rows[row])
    state.rows[row].open = active
    if is_dynamic(state.rule):
        state.rows[row].matches = tally(state, row, 1)
    link(state, row)
    return row


@part
def copy(arrival: Any, row: Any) -> None:
    """What is known of a row that arrives."""
    row.importance, row.lot, row.place = arrival.importance, arrival.lot, arrival.place
    row.arrival, row.end = arrival.arrival, arrival.end
    row.key, row.stream = arrival.key, arrival.stream
    row.matches, row.touched, row.heap = 0, NONE, NONE


@part
def leave(state: StarState, row: int) -> None:
    """Take a row out of its heap and away from its partners."""
    if state.rows[row].heap != NONE:
        pull(state, row)
    unlink(state, row)
    if is_dynamic(state.rule):
        tally(state, row, -1)


@part
def remove(state: StarState, row: int) -> None:
    """A stored row that can meet nothing any more."""
    unschedule(state, row)
    leave(state, row)
    free(state, row)


@part
def expire(state: StarState, t: int) -> None:
    """Remove the rows that have ended."""
    for number in range(state.rule.streams):
        stream = state.streams[number]
        while stream.soonest != NONE and state.rows[stream.soonest].end <= t:
            remove(state, stream.soonest)


@part
def close_version(state: StarState, version: int) -> None:
    """A version has ended: rows that met no other that is still open go, by rule (8)."""
    for stream in range(state.rule.streams):
        row = state.keys[state.version_keys[version, stream]].newest
        while row != NONE:
            mine = state.rows[row]
            older = mine.older
            if met(state, version, mine.arrival):
                mine.open -= 1
                if mine.open == 0:
                    remove(state, row)
            row = older


@part
def open_version(state: StarState, edge: int, version: int) -> None:
    """A version begins: from now on it is found by its keys."""
    for stream in range(state.rule.streams):
        key = state.keys[state.version_keys[version, stream]]
        state.edges[edge + stream, 0] = key.edge
        key.edge = edge + stream
