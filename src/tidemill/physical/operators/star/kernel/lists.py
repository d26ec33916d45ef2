"""Lists of rows: of a key, the newest first; of a stream, by end; and of free numbers."""

from __future__ import annotations

from tidemill.physical.mechanisms.compiled import part
from tidemill.physical.operators.star.layout import NONE, StarState


@part
def link(state: StarState, row: int) -> None:
    """Put a row before the others of its key."""
    mine, key = state.rows[row], state.keys[state.rows[row].key]
    mine.newer, mine.older = NONE, key.newest
    if key.newest == NONE:
        key.oldest = row
    else:
        state.rows[key.newest].newer = row
    key.newest = row
    key.rows += 1


@part
def unlink(state: StarState, row: int) -> None:
    """Take a row out of the list of its key."""
    mine, key = state.rows[row], state.keys[state.rows[row].key]
    if mine.newer == NONE:
        key.newest = mine.older
    else:
        state.rows[mine.newer].older = mine.older
    if mine.older == NONE:
        key.oldest = mine.newer
    else:
        state.rows[mine.older].newer = mine.newer
    key.rows -= 1


@part
def schedule(state: StarState, row: int) -> None:
    """Put a row after all that end no later: mostly at the end."""
    mine, stream = state.rows[row], state.streams[state.rows[row].stream]
    mine.sooner, mine.later = stream.last, NONE
    while mine.sooner != NONE and state.rows[mine.sooner].end > mine.end:
        mine.later = mine.sooner
        mine.sooner = state.rows[mine.sooner].sooner
    if mine.sooner == NONE:
        stream.soonest = row
    else:
        state.rows[mine.sooner].later = row
    if mine.later == NONE:
        stream.last = row
    else:
        state.rows[mine.later].sooner = row


@part
def unschedule(state: StarState, row: int) -> None:
    """Take a row out of the order of ends."""
    mine, stream = state.rows[row], state.streams[state.rows[row].stream]
    if mine.sooner == NONE:
        stream.soonest = mine.later
    else:
        state.rows[mine.sooner].later = mine.later
    if mine.later == NONE:
        stream.last = mine.sooner
    else:
        state.rows[mine.later].sooner = mine.sooner


@part
def free(state: StarState, row: int) -> None:
    """Give the number of a row back."""
    state.rows[row].stream = NONE
    state.free[state.memory[0].free] = row
    state.memory[0].free += 1
