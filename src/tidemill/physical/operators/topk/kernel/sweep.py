"""The compiled part of top-k: keeps the first items while their keys change."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.mechanisms.compiled import compiled_for, part, source_of
from tidemill.physical.operators.topk.kernel.heaps import change, goes_before, pull, push
from tidemill.physical.operators.topk.kernel.telling import Noted, tell, touch
from tidemill.physical.operators.topk.layout import TopKState, TopKVersions, blank, no_versions


@part
def balance(state: TopKState, cut: int, noted: Noted, count: int) -> int:
    """Let items change sides until the right ones are the first of a cut."""
    first, others = 2 * cut, 2 * cut + 1
    heaps, sizes = state.heaps, state.sizes
    while sizes[others] > 0 and sizes[first] < state.limits[cut]:
        item = heaps[others, 0]
        pull(state, others, item)
        push(state, first, item)
        count = touch(state.told, noted, count, item)
    while sizes[others] > 0 and sizes[first] > 0:
        up, down = heaps[others, 0], heaps[first, 0]
        if not goes_before(state, cut, up, down):
            break
        pull(state, others, up)
        pull(state, first, down)
        push(state, others, down)
        push(state, first, up)
        count = touch(state.told, noted, count, up)
        count = touch(state.told, noted, count, down)
    return count


@part
def is_first(state: TopKState, item: int) -> bool:
    """Whether an item is at one of the places that are asked for."""
    inside = state.entries[0, item].heap == 0
    for cut in range(1, len(state.limits)):
        inside = inside and state.entries[cut, item].heap != 2 * cut
    return inside


_NUMBERS = np.zeros(0, np.int64)

Sweep = Callable[[TopKState, int, Ints, Ints, Ints, Ints, Noted, TopKVersions], int]


def _compile(source: int) -> Sweep:
    events = (_NUMBERS, _NUMBERS, _NUMBERS, np.zeros((0, 1), np.int64))

    @compiled_for(blank([0], 1), 0, *events, np.zeros(0, np.int32), no_versions(0))
    def sweep(
        state: TopKState,
        base: int,
        times: Ints,
        items: Ints,
        keys: Ints,
        ties: Ints,
        noted: Noted,
        out: TopKVersions,
    ) -> int:
        _ = source  # what is kept of a compiled function is known by what it refers to
        at, done = 0, 0
        while at < len(times):
            time, count = times[at], 0
            while at < len(times) and times[at] == time:
                item = items[at]
                state.told[item].event = base + at
                count = touch(state.told, noted, count, item)
                for level in range(ties.shape[1]):
                    state.ties[item, level] = ties[at, level]
                for cut in range(len(state.limits)):
                    change(state, cut, item, keys[at])
                    count = balance(state, cut, noted, count)
                at += 1
            for touched in range(count):
                item = noted[touched]
                inside = is_first(state, item)
                done = tell(state.told, item, inside, time, base, out, done)
        return done

    return sweep


sweep = _compile(source_of(__package__))
"""Follow events in the order of time, the first of which has the number `base`.

The versions that ended are written to `out`; their number is returned.
"""
