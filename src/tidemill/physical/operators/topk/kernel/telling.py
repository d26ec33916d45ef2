"""What is given out of items: versions, which end when their item is no longer first or changes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tidemill.physical.mechanisms.arrays import Array
from tidemill.physical.mechanisms.compiled import part
from tidemill.physical.operators.topk.layout import NONE, TopKVersions

Noted = npt.NDArray[np.int32]


@part
def touch(told: Array, noted: Noted, count: int, item: int) -> int:
    """Note an item that must be looked at when the instant is over."""
    if told[item].touched:
        return count
    told[item].touched = True
    noted[count] = item
    return count + 1


@part
def tell(
    told: Array, item: int, is_first: bool, time: int, base: int, out: TopKVersions, done: int
) -> int:
    """Compare an item as it is with its last version, and end that one if it no longer holds."""
    mine = told[item]
    mine.touched = False
    now = mine.event if is_first else NONE
    if now == mine.told:
        return done
    if mine.told != NONE and mine.since < time:
        out.item[done], out.event[done] = item, max(mine.told - base, NONE)
        out.since[done], out.end[done] = mine.since, time
        done += 1
    mine.told, mine.since = now, time
    return done
