"""Objects that were forgotten before their next row came.

What is known of an object lasts as long as any of its instances can be among the first. Then it
begins anew, whatever its streams brought before. Results do not depend on that, but what is
retained does. So that it does not depend on how rows are cut into ticks, it is found out here
for every row.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tidemill.physical.mechanisms.arrays import Bools, Ints
from tidemill.physical.operators.ranking.calls import Ranges
from tidemill.physical.operators.ranking.kernel.band import LOWEST, Band, empty_band
from tidemill.physical.operators.ranking.kernel.forgetting import (
    ForgettingSteps,
    KernelFacts,
    Pairs,
    ScoreBounds,
    find_forgotten,
    list_steps,
)
from tidemill.physical.operators.ranking.rows import Objects

Keys = Callable[[Ranges], Ints]
"""Current scores of instances, as keys."""

BestKeys = Callable[[Ranges, Ints], Ints]
"""Best scores, given the first rows that count as seen; -1 for all since the object is known."""


def rows_that_begin_anew(
    objects: Objects,
    begins: Bools,
    window: int,
    sizes: tuple[int, int],
    current: Keys,
    best: BestKeys,
) -> tuple[Bools, Ints]:
    """The rows with which objects begin anew, and by object the last of them, or -1.

    `begins` says with which rows instances begin; `sizes` are the number of items and k.
    """
    anew, born = np.zeros(len(objects.rows), np.bool_), np.full(len(objects.first), -1)
    unsure = np.ones(len(born), np.bool_)
    # Whether an object was forgotten depends on its best score, and that on the rows since it was
    # forgotten last. Where both ways of counting agree, it is decided; what is left is looked at
    # again, from the last row with which the object surely began anew.
    while unsure.any():
        facts = _facts(objects, begins, window, born)
        steps, before, after = _listed(facts)
        bounds = _bounds(Ranges(*before), steps, facts, best)
        band = _band(objects, facts, len(after.low), *sizes)
        order = np.argsort(steps.time, kind="stable")
        later, unsure = np.full(len(born), -1), np.zeros(len(born), np.bool_)
        keys = current(Ranges(*after))
        find_forgotten(order, steps, before, bounds, after, keys, facts, band, later, unsure, anew)
        born = np.maximum(born, later)
    return anew, born


def _facts(objects: Objects, begins: Bools, window: int, born: Ints) -> KernelFacts:
    rows = objects.rows
    return KernelFacts(
        first=np.maximum(objects.first, born),
        new=objects.new,
        bound=objects.bound,
        begins=begins & ~rows.evicted,
        item=rows.item,
        age=objects.order,
        time=rows.time,
        place=rows.place,
        window=np.array([window]),
    )


def _listed(facts: KernelFacts) -> tuple[ForgettingSteps, Pairs, Pairs]:
    """All steps, and the pairs before and after them."""
    steps, before, after = _room(0, 0, 0)
    found = np.zeros(3, np.int64)
    list_steps(facts, steps, before, after, found)
    steps, before, after = _room(*found.tolist())
    list_steps(facts, steps, before, after, found)
    return steps, before, after


def _room(steps: int, before: int, after: int) -> tuple[ForgettingSteps, Pairs, Pairs]:
    lengths = (steps, steps, steps, steps + 1, steps + 1)
    one, other = (Pairs(np.zeros(n, np.int64), np.zeros(n, np.int64)) for n in (before, after))
    return ForgettingSteps(*(np.zeros(n, np.int64) for n in lengths)), one, other


def _bounds(
    before: Ranges, steps: ForgettingSteps, facts: KernelFacts, best: BestKeys
) -> ScoreBounds:
    """The best scores before steps, as if all rows had been seen, or only those of the instance."""
    number = np.repeat(steps.object, np.diff(steps.before))
    first, new = facts.first[number], facts.new[number]
    least = best(before, np.where(first < new, -1, first))
    most = least.copy()
    # An object can only begin anew with a new row.
    others = np.flatnonzero((before.low >= new) & (before.low > first))
    most[others] = best(Ranges(before.low[others], before.high[others]), before.low[others])
    return ScoreBounds(least, most)


def _band(objects: Objects, facts: KernelFacts, more: int, items: int, limit: int) -> Band:
    """The instances from before, and room for more."""
    rows = objects.rows
    is_old = np.arange(len(rows)) < np.repeat(objects.new, objects.bound - objects.first)
    old = np.flatnonzero(facts.begins & is_old)
    later = np.full(len(old), LOWEST)
    same = rows.item[old[1:]] == rows.item[old[:-1]]
    later[:-1][same] = rows.current[old[1:]][same]
    band = empty_band(len(rows), len(old) + more + 1, items, limit)
    order = np.argsort(facts.age[old], kind="stable")
    old, later = old[order], later[order]
    columns = (old, facts.age[old], rows.place[old], rows.item[old], rows.current[old], later)
    for target, source in zip(band, columns, strict=False):
        target[: len(old)] = source
    band.size[0] = len(old)
    return band
