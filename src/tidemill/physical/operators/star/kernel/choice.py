"""Which rows stay: all are assessed, then those of least priority go."""

from __future__ import annotations

from tidemill.physical.mechanisms.compiled import part
from tidemill.physical.operators.star.kernel.heaps import pull
from tidemill.physical.operators.star.kernel.lists import unschedule
from tidemill.physical.operators.star.kernel.matches import tally
from tidemill.physical.operators.star.kernel.priorities import fallen, place, product
from tidemill.physical.operators.star.kernel.rows import leave
from tidemill.physical.operators.star.kernel.shadows import shed
from tidemill.physical.operators.star.layout import (
    DGL,
    GOING,
    NEW,
    RANDOM,
    SIMP,
    SIMPPROB,
    TOUCHED,
    StarState,
)


@part
def choose(state: StarState, new: int, t: int) -> None:
    """Assess all rows, then let stored ones go that there is no room for."""
    for at in range(new):
        assess_new(state, state.noted[NEW, at], t)
    for at in range(state.memory[0].touched):
        row = state.noted[TOUCHED, at]
        # Rows of this instant were assessed above.
        if state.rows[row].arrival < t:
            assess_touched(state, row, t)
    for at in range(evict(state, t)):
        row = state.noted[GOING, at]
        # Stored rows go before the results of this instant. Rows that come and find no place
        # give theirs first: `end_instant` lets them go.
        if state.rows[row].arrival < t:
            unschedule(state, row)
            leave(state, row)
            shed(state, row, t)


@part
def assess_new(state: StarState, row: int, t: int) -> None:
    """The first priority of a row."""
    mine, policy = state.rows[row], state.rule.policy
    if policy == SIMPPROB:
        mine.matches = tally(state, row, 0)
    if policy == SIMP:
        place(state, row, mine.importance, t)
    elif policy == RANDOM:
        place(state, row, float(mine.lot), t)
    else:
        place(state, row, product(state, row), t)


@part
def assess_touched(state: StarState, row: int, t: int) -> None:
    """The priority of a stored row that has a result now."""
    mine, priority = state.rows[row], product(state, row)
    if state.rule.policy == DGL:
        gain = priority * float(mine.end - t) / state.rule.alpha
        before = 0.0
        if mine.heap % 2 == 0:
            # It does not fall at an instant at which it gives results.
            before = max(0.0, mine.priority - fallen(state, t - 1))
        priority = before + gain
    place(state, row, priority, t)


@part
def evict(state: StarState, t: int) -> int:
    """Choose the rows that there is no room for, before any of them goes."""
    going = 0
    for stream in range(state.rule.streams):
        high, low = 2 * stream, 2 * stream + 1
        if state.sizes[high] + state.sizes[low] <= state.rule.share:
            continue
        if state.rule.policy == DGL:
            # Not before something has to go: until then, nobody looks at priorities.
            sink(state, high, t)
        while state.sizes[high] + state.sizes[low] > state.rule.share:
            # The heap of rows that are worth nothing comes first; only DGL has it.
            row = state.heaps[low if state.sizes[low] > 0 else high, 0]
            pull(state, row)
            state.noted[GOING, going] = row
            going += 1
    return going


@part
def sink(state: StarState, high: int, t: int) -> None:
    """Move rows whose priority has fallen to zero."""
    level = fallen(state, t)
    while state.sizes[high] > 0:
        row = state.heaps[high, 0]
        if state.rows[row].priority > level:
            break
        place(state, row, 0.0, t)
