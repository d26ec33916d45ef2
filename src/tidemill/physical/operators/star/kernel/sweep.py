"""The way through time: from one instant at which rows arrive to the next."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tidemill.physical.mechanisms.arrays import Array, Ints
from tidemill.physical.mechanisms.compiled import compiled_for, part, source_of
from tidemill.physical.operators.star.kernel.choice import choose
from tidemill.physical.operators.star.kernel.lists import free, schedule
from tidemill.physical.operators.star.kernel.matches import is_dynamic, tally
from tidemill.physical.operators.star.kernel.results import meet
from tidemill.physical.operators.star.kernel.rows import (
    admit,
    close_version,
    expire,
    leave,
    open_version,
)
from tidemill.physical.operators.star.kernel.shadows import shed
from tidemill.physical.operators.star.layout import (
    ARRIVAL,
    NEW,
    NONE,
    SIMPPROB,
    ShedRule,
    StarState,
    blank,
)


@part
def begin_instant(state: StarState, arrivals: Array, opening: Array, ending: Array) -> int:
    """Do all that comes before results; the room that they need, and one that is lost."""
    memory = state.memory[0]
    t = arrivals[memory.arrived].arrival
    if memory.origin == NONE:
        memory.origin = t
    memory.now = t
    # First what ends, then what begins, then the rows: intervals are half-open.
    expire(state, t)
    while memory.ended < len(ending) and state.versions[ending[memory.ended]].end <= t:
        close_version(state, ending[memory.ended])
        memory.ended += 1
    while memory.opened < len(opening) and state.versions[opening[memory.opened, 0]].begin <= t:
        open_version(state, opening[memory.opened, 1], opening[memory.opened, 0])
        memory.opened += 1
    admit_all(state, arrivals, t)
    if state.rule.streams > 1:
        choose(state, memory.new, t)
    room = 1
    for number in range(memory.new):
        room += most_results(state, state.noted[NEW, number])
    return room


@part
def admit_all(state: StarState, arrivals: Array, t: int) -> None:
    """Let the rows of an instant in that match anything."""
    memory = state.memory[0]
    memory.new, memory.touched = 0, 0
    while memory.arrived < len(arrivals) and arrivals[memory.arrived].arrival == t:
        row = admit(state, arrivals[memory.arrived], t)
        if row != NONE:
            state.noted[NEW, memory.new] = row
            memory.new += 1
        memory.arrived += 1


@part
def most_results(state: StarState, row: int) -> int:
    """How many results a row that arrives may give."""
    if is_dynamic(state.rule) or (state.rule.policy == SIMPPROB and state.rule.streams > 1):
        return state.rows[row].matches
    return tally(state, row, 0)


@part
def end_instant(state: StarState, new: int, t: int) -> None:
    """Keep the rows that arrived and were given a place."""
    for at in range(new):
        row = state.noted[NEW, at]
        if state.rows[row].heap != NONE:
            schedule(state, row)
        else:
            leave(state, row)
            if state.rule.streams > 1:
                shed(state, row, t)
            else:
                free(state, row)
    kept = 0
    for heap in range(2 * state.rule.streams):
        kept += state.sizes[heap]
    state.memory[0].most = max(state.memory[0].most, kept)


Sweep = Callable[[StarState, Array, Array, Array, int, Ints], int]


def _compile(source: int) -> Sweep:
    @compiled_for(
        blank(ShedRule(2, 0, 0, 0, 1.0, 1.0, False)),
        np.zeros(0, ARRIVAL),
        np.zeros((0, 2), np.int32),
        np.zeros(0, np.int32),
        0,
        np.zeros((0, 5), np.int64),
    )
    def sweep(
        state: StarState, arrivals: Array, opening: Array, ending: Array, until: int, found: Ints
    ) -> int:
        _ = source  # what is kept of a compiled function is known by what it refers to
        memory, used = state.memory[0], 0
        while memory.needed > 0 or memory.arrived < len(arrivals):
            if memory.needed == 0:
                memory.needed = begin_instant(state, arrivals, opening, ending)
            if used + memory.needed > len(found):
                return used
            memory.needed = 0
            for number in range(memory.new):
                used = meet(state, state.noted[NEW, number], memory.now, found, used)
            end_instant(state, memory.new, memory.now)
        for number in range(memory.ended, len(ending)):
            close_version(state, ending[number])
        for number in range(memory.opened, len(opening)):
            open_version(state, opening[number, 1], opening[number, 0])
        expire(state, until)
        memory.arrived, memory.opened, memory.ended = 0, 0, 0
        return used

    return sweep


sweep = _compile(source_of(__package__))
"""Go on in time until an instant; the number of results is returned.

`arrivals` are rows in the order of their arrival, `opening` versions with their first edges in
the order of their begin, `ending` versions in the order of their end. What is found are the
places of rows, the version, start and end. If there is no room for the results of an instant,
`memory.needed` says how much it takes, and another call goes on from there.
"""
