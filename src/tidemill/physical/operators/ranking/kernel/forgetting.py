"""Which objects are forgotten before rows of theirs come, however the rows are cut into ticks."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tidemill.physical.mechanisms.arrays import Bools, Ints
from tidemill.physical.mechanisms.compiled import compiled_for, part, source_of
from tidemill.physical.operators.ranking.kernel.band import (
    LOWEST,
    Band,
    empty_band,
    insert,
    is_dominated,
    note,
    shrink,
)

UNSURE = 2
MOST = 32
"""So many instances of an object are followed, the newest; one with more is not forgotten before
the end of a tick."""

HIGHEST = np.iinfo(np.int64).max


class ForgettingSteps(NamedTuple):
    """New rows of an object at an instant; `before` and `after` are bounds in lists of pairs.

    A pair is an instance and the bound of its rows, before the step or after it.
    """

    object: Ints
    time: Ints
    row: Ints  # the first of the new ones
    before: Ints
    after: Ints


class Pairs(NamedTuple):
    """Instances with the bounds of their rows."""

    low: Ints
    high: Ints


class KernelFacts(NamedTuple):
    """What is known of rows, in the order of objects."""

    first: Ints  # by object: the first row that counts
    new: Ints
    bound: Ints
    begins: Bools  # whether an instance begins with the row
    item: Ints
    age: Ints  # the number of the row in time
    time: Ints
    place: Ints
    window: Ints  # its length


class ScoreBounds(NamedTuple):
    """Keys of the best scores before a step.

    `least` counts the rows since the object is known, `most` those since the instance began.
    """

    least: Ints
    most: Ints


_NONE = np.zeros(0, np.int64)
_STEPS, _PAIRS, _BOUNDS = (
    ForgettingSteps(*[_NONE] * 5),
    Pairs(_NONE, _NONE),
    ScoreBounds(_NONE, _NONE),
)
_FLAGS = np.zeros(0, np.bool_)
_FACTS = KernelFacts(_NONE, _NONE, _NONE, _FLAGS, _NONE, _NONE, _NONE, _NONE, _NONE)
_BAND = empty_band(0, 0, 0, 0)


@part
def first_of(facts: KernelFacts, low: int, bound: int, place: int) -> int:
    """The first of the last instances in a range of rows that are still in the window."""
    first, count, row = bound, 0, bound - 1
    while row >= low and count < MOST and facts.place[row] + facts.window[0] > place:
        if facts.begins[row]:
            first = row
            count += 1
        row -= 1
    return first


@part
def list_pairs(facts: KernelFacts, low: int, bound: int, pairs: Pairs, count: int) -> int:
    """Note the instances in a range of rows."""
    for row in range(low, bound):
        if facts.begins[row]:
            if count < len(pairs.low):
                pairs.low[count], pairs.high[count] = row, bound
            count += 1
    return count


@part
def step_end(facts: KernelFacts, row: int, bound: int) -> int:
    """Where the rows of an instant end."""
    end = row + 1
    while end < bound and facts.time[end] == facts.time[row]:
        end += 1
    return end


@compiled_for(_FACTS, _STEPS, _PAIRS, _PAIRS, _NONE)
def list_steps(
    facts: KernelFacts, steps: ForgettingSteps, before: Pairs, after: Pairs, found: Ints
) -> None:
    """Write down all steps and pairs for which there is room, and how many there are."""
    count, one, other = 0, 0, 0
    for number in range(len(facts.first)):
        row = max(facts.new[number], facts.first[number])
        while row < facts.bound[number]:
            end = step_end(facts, row, facts.bound[number])
            low, place = facts.first[number], facts.place[row]
            one = list_pairs(facts, first_of(facts, low, row, place), row, before, one)
            other = list_pairs(facts, first_of(facts, low, end, place), end, after, other)
            if count < len(steps.row):
                steps.object[count], steps.time[count] = number, facts.time[row]
                steps.row[count] = row
                steps.before[count + 1], steps.after[count + 1] = one, other
            count += 1
            row = end
    found[0], found[1], found[2] = count, one, other


@part
def is_forgotten(
    step: int,
    steps: ForgettingSteps,
    pairs: Pairs,
    bounds: ScoreBounds,
    facts: KernelFacts,
    band: Band,
    since: int,
) -> int:
    """Whether nothing is kept of an object when its next row comes; UNSURE if it is not clear.

    Since it has begun anew, with the row `since`, the rows to count are known only for the
    instance of that row; for later ones there are two bounds.
    """
    if steps.before[step + 1] - steps.before[step] == MOST:
        return 0
    answer = 1
    for pair in range(steps.before[step], steps.before[step + 1]):
        row = pairs.low[pair]
        if row < since:
            continue
        place = facts.place[row]
        if not is_dominated(band, place, bounds.most[pair] if row == since else bounds.least[pair]):
            return 0
        if row > since >= 0 and not is_dominated(band, place, bounds.most[pair]):
            answer = UNSURE
    return answer


@part
def least_of(keys: Ints) -> int:
    """The smallest key; the largest of all if there are none."""
    least = HIGHEST
    for key in keys:
        least = min(least, key)
    return least


@part
def follow_instances(
    step: int,
    steps: ForgettingSteps,
    pairs: Pairs,
    current: Ints,
    facts: KernelFacts,
    band: Band,
    since: int,
    lowest: int,
) -> None:
    """Let the band know the scores of an object after a step, if above the lowest bound."""
    for pair in range(steps.after[step], steps.after[step + 1]):
        row, key = pairs.low[pair], current[pair]
        if row < since or key <= lowest:
            continue
        later = current[pair + 1] if pair + 1 < steps.after[step + 1] else LOWEST
        if band.at[row] >= 0:
            band.key[band.at[row]], band.later[band.at[row]] = key, later
            note(band, band.at[row], False)
        elif row >= steps.row[step] or not is_dominated(band, facts.place[row], key):
            insert(band, row, facts.age[row], facts.place[row], facts.item[row], key, later)


def _compile(source: int) -> Callable[..., None]:
    pairs = (_PAIRS, _BOUNDS, _PAIRS, _NONE)

    @compiled_for(_NONE, _STEPS, *pairs, _FACTS, _BAND, _NONE, _FLAGS, _FLAGS)
    def find_forgotten(
        order: Ints,
        steps: ForgettingSteps,
        before: Pairs,
        bounds: ScoreBounds,
        after: Pairs,
        current: Ints,
        facts: KernelFacts,
        band: Band,
        born: Ints,
        unsure: Bools,
        anew: Bools,
    ) -> None:
        _ = source  # what is kept of a compiled function is known by what it refers to
        shrink(band)
        lowest = least_of(bounds.least)
        at = 0
        while at < len(order):
            end = at
            while end < len(order) and steps.time[order[end]] == steps.time[order[at]]:
                step = order[end]
                number, row = steps.object[step], steps.row[step]
                if row > facts.first[number] and not unsure[number]:
                    answer = is_forgotten(step, steps, before, bounds, facts, band, born[number])
                    if answer == 1:
                        born[number], anew[row] = row, True
                    unsure[number] = answer == UNSURE
                end += 1
            for n in range(at, end):
                since = born[steps.object[order[n]]]
                follow_instances(order[n], steps, after, current, facts, band, since, lowest)
            at = end

    return find_forgotten


find_forgotten = _compile(source_of(__package__))
"""Go through the steps in the order of time and mark the rows with which objects begin anew.

`born` is the last such row by object, -1 at first. Where it is not clear, the object is `unsure`
from there on.
"""
