"""Matches: the results that rows are part of with what the other streams have."""

from __future__ import annotations

from tidemill.physical.mechanisms.compiled import part
from tidemill.physical.operators.star.kernel.priorities import weaken
from tidemill.physical.operators.star.layout import (
    DGL,
    DIMPPROB,
    NONE,
    SEMANTIC,
    TOUCHED,
    ShedRule,
    StarState,
)


@part
def is_dynamic(rule: ShedRule) -> bool:
    """Whether the priority of stored rows depends on what the other streams have."""
    return rule.streams > 1 and rule.policy in (DIMPPROB, DGL, SEMANTIC)


@part
def met(state: StarState, version: int, arrival: int) -> bool:
    """Whether a version was active when a row arrived."""
    if not state.rule.changing:
        return True
    return state.versions[version].begin <= arrival < state.versions[version].end


@part
def count(state: StarState, version: int, number: int) -> int:
    """How many kept rows of a key a version has met."""
    key = state.keys[number]
    if key.rows == 0 or not state.rule.changing:
        return key.rows
    first, last = state.rows[key.oldest].arrival, state.rows[key.newest].arrival
    # Rows are in the order of arrival, so a version that met both met all between them.
    if met(state, version, first) and met(state, version, last):
        return key.rows
    count, row = 0, key.newest
    while row != NONE:
        count += met(state, version, state.rows[row].arrival)
        row = state.rows[row].older
    return count


@part
def tally(state: StarState, row: int, sign: int) -> int:
    """The results that a row is part of; add them, with this sign, to those of its partners."""
    others, counts = state.rule.streams - 1, state.cursors[1]
    mine, total = state.rows[row], 0
    edge = state.keys[mine.key].edge
    while edge != NONE:
        if sign < 0 and total == mine.matches:
            break  # a row that leaves has counted all its partners already
        version = state.edges[edge, 1]
        if met(state, version, mine.arrival):
            results = 1
            for other in range(others):
                counts[other] = count(state, version, state.edges[edge, 2 + other])
                results *= counts[other]
            total += results
            if sign != 0 and results != 0:  # where one stream has none, nothing changes
                tell_partners(state, edge, sign, mine.arrival)
        edge = state.edges[edge, 0]
    return total


@part
def tell_partners(state: StarState, edge: int, sign: int, t: int) -> None:
    """Change the matches of all rows that have met the version of an edge."""
    others, counts = state.rule.streams - 1, state.cursors[1]
    for other in range(others):
        results = sign
        for third in range(others):
            if third != other:
                results *= counts[third]
        change_matches(state, state.edges[edge, 1], state.edges[edge, 2 + other], results, t)


@part
def change_matches(state: StarState, version: int, key: int, change: int, t: int) -> None:
    """Change those of one key; take note of stored rows that have a result now."""
    row = state.keys[key].newest
    while row != NONE:
        mine = state.rows[row]
        if met(state, version, mine.arrival):
            mine.matches += change
            if change < 0:
                weaken(state, row)
            elif mine.touched != t:
                mine.touched = t
                state.noted[TOUCHED, state.memory[0].touched] = row
                state.memory[0].touched += 1
        row = mine.older
