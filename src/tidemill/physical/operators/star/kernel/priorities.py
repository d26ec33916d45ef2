"""Priorities, and the heaps that rows are in by them."""

from __future__ import annotations

from tidemill.physical.mechanisms.compiled import part
from tidemill.physical.operators.star.kernel.heaps import pull, push, settle
from tidemill.physical.operators.star.layout import DGL, NONE, SEMANTIC, StarState


@part
def product(state: StarState, row: int) -> float:
    """What a row is worth now: its matches, and their importance if that counts."""
    mine = state.rows[row]
    if state.rule.policy == SEMANTIC:
        return float(mine.matches)
    return mine.importance * mine.matches


@part
def weaken(state: StarState, row: int) -> None:
    """Follow matches that are gone; not for rows that have to go themselves."""
    mine = state.rows[row]
    if mine.heap != NONE:
        if state.rule.policy != DGL:
            mine.priority = product(state, row)
        settle(state, row)


@part
def fallen(state: StarState, t: int) -> float:
    """By how much priorities of DGL have fallen since the first instant.

    They are kept as if they had not, so that no row must be touched to let all of them fall.
    """
    return state.rule.beta * (t - state.memory[0].origin)


@part
def place(state: StarState, row: int, priority: float, t: int) -> None:
    """Put a row into the heap for its priority: under DGL, zero has one of its own."""
    mine, heap = state.rows[row], 2 * state.rows[row].stream
    mine.priority = priority
    if state.rule.policy == DGL:
        level = fallen(state, t)
        mine.priority = priority + level
        if mine.priority <= level:
            mine.priority = 0.0
            heap += 1
    if mine.heap == heap:
        settle(state, row)
    else:
        if mine.heap != NONE:
            pull(state, row)
        push(state, heap, row)
