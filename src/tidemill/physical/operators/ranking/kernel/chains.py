"""The rows of items in a queue: every row knows the one before it of the same item."""

from __future__ import annotations

import numpy as np

from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.mechanisms.compiled import compiled_for

_NO_INTS = np.zeros(0, np.int64)


@compiled_for(_NO_INTS, _NO_INTS, _NO_INTS, 0, 0, _NO_INTS)
def chain_lengths(
    items: Ints, last: Ints, previous: Ints, base: int, first: int, lengths: Ints
) -> None:
    """How many rows items have, counted from `first`."""
    for at in range(len(items)):
        row, length = last[items[at]], 0
        while row >= first:
            length += 1
            row = previous[row - base]
        lengths[at] = length


@compiled_for(_NO_INTS, _NO_INTS, _NO_INTS, 0, _NO_INTS, _NO_INTS, _NO_INTS)
def chain_rows(
    items: Ints, last: Ints, previous: Ints, base: int, begin: Ints, bound: Ints, rows: Ints
) -> None:
    """The rows of items, those of each from `begin` to `bound`, in their order."""
    for at in range(len(items)):
        row = last[items[at]]
        for place in range(bound[at] - 1, begin[at] - 1, -1):
            rows[place] = row
            row = previous[row - base]
