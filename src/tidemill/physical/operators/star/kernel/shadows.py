"""Shadows: rows that were shed and are followed, to see what they would have given."""

from __future__ import annotations

import numpy as np

from tidemill.physical.mechanisms.compiled import part
from tidemill.physical.operators.star.kernel.lists import free, link, unlink
from tidemill.physical.operators.star.layout import SHADOWS, StarState


@part
def draw(lot: int) -> float:
    """A number from [0, 1) that depends on nothing but the lot, and not on its size (SplitMix64).

    The size of lots decides between equal rows; shadows must not be chosen by it, too.
    """
    mixed = np.uint64(lot) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(11)) / 2.0**53


@part
def shed(state: StarState, row: int, t: int) -> None:
    """Follow a row that was shed, or some of them in place of all."""
    mine, memory = state.rows[row], state.memory[0]
    memory.shed += 1
    if memory.shadows == state.rule.shadows:
        thin_out(state, t)
    elif memory.shadows * 8 < state.rule.shadows:
        memory.sampled = min(1.0, 2 * memory.sampled)
    if draw(mine.lot) >= memory.sampled:
        free(state, row)
        return
    mine.stream += state.rule.streams
    mine.key += 1
    mine.weight = 1.0 / memory.sampled
    link(state, row)
    state.noted[SHADOWS, memory.shadows] = row
    memory.shadows += 1


@part
def thin_out(state: StarState, t: int) -> None:
    """Forget shadows that have ended, and half of the others for as long as they are many."""
    memory = state.memory[0]
    forget_shadows(state, t)
    while memory.shadows * 2 > state.rule.shadows:
        memory.sampled /= 2
        forget_shadows(state, t)


@part
def forget_shadows(state: StarState, t: int) -> None:
    """Keep the shadows that have not ended and are among those that stand for all."""
    memory, kept = state.memory[0], 0
    for at in range(memory.shadows):
        row = state.noted[SHADOWS, at]
        mine = state.rows[row]
        if mine.end > t and draw(mine.lot) < memory.sampled:
            # From now on it stands also for those that are forgotten here.
            mine.weight = max(mine.weight, 1.0 / memory.sampled)
            state.noted[SHADOWS, kept] = row
            kept += 1
        else:
            unlink(state, row)
            free(state, row)
    memory.shadows = kept
