"""The cells of a sketch: a hash table of fixed size."""

from __future__ import annotations

import numpy as np

from tidemill.physical.mechanisms.arrays import Array, Ints
from tidemill.physical.mechanisms.compiled import compiled_for

NEVER = np.iinfo(np.int64).min
_EMPTY = np.uint64(0)
_ZERO = np.uint64(1 << 63)  # stands for a hash of nothing but zeros
_INTS, _HASHES = np.zeros(0, np.int64), np.zeros(0, np.uint64)


@compiled_for(_HASHES, np.zeros((0, 0, 0), np.int64), _INTS, 0, 0, _HASHES, _INTS, _INTS, 0)
def place(
    cells: Array,
    last: Ints,
    used: Ints,
    level: int,
    before: int,
    hashes: Array,
    streams: Ints,
    times: Ints,
    row: int,
) -> int:
    """Put rows into the cells of their hashes, from `row` on; the first row that has no room.

    Of every stream a cell holds the `last` two times. Rows up to the time `before` do not count,
    and neither do those whose hash ends in fewer zeros than `level` says. Half of the cells may
    be used.
    """
    mask = np.uint64((1 << level) - 1)
    while row < len(hashes):
        value = hashes[row] if hashes[row] != _EMPTY else _ZERO
        if times[row] > before and value & mask == _EMPTY:
            at = int(value >> np.uint64(level)) % len(cells)
            while cells[at] != value and cells[at] != _EMPTY:
                at = at + 1 if at + 1 < len(cells) else 0
            if cells[at] == _EMPTY:
                if 2 * used[0] >= len(cells):
                    return row
                used[0] += 1
                cells[at] = value
            mine, time = last[at, streams[row]], times[row]
            if time >= mine[0]:
                mine[0], mine[1] = time, mine[0]
            elif time > mine[1]:
                mine[1] = time
        row += 1
    return row
