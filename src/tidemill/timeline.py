"""The time axis: integers from 0 up to an open end.

>>> add(5, 10)
15
>>> add(OPEN_END, 10) == OPEN_END
True
"""

from __future__ import annotations

from enum import Enum

import numpy as np
import numpy.typing as npt

BEGIN = 0
"""The first instant; constant relations hold from here on."""

OPEN_END = 2**63 - 1
"""The end of a validity that never ends; NULL outside the engine."""

Instants = npt.NDArray[np.int64]

VALID_FROM = "valid_from"
VALID_TO = "valid_to"


class TimeDomain(Enum):
    """What one step of the time axis means to the user."""

    TICKS = "BIGINT"
    MICROSECONDS = "TIMESTAMP"


def add(instant: int, duration: int) -> int:
    """Move an instant, staying at the open end."""
    return min(instant + duration, OPEN_END)


def add_all(instants: Instants, duration: int | Instants) -> Instants:
    """Move many instants, staying at the open end.

    >>> add_all(np.array([1, OPEN_END - 3]), 10).tolist() == [11, OPEN_END]
    True
    """
    room = OPEN_END - duration
    return np.where(instants > room, OPEN_END, instants + duration).astype(np.int64)


def round_up(instants: Instants, granule: int | Instants) -> Instants:
    """Round instants up to multiples of a granule; the open end stays open.

    >>> round_up(np.array([0, 1, 10, 11]), 10).tolist()
    [0, 10, 10, 20]
    """
    rounded = -(-instants // granule) * granule
    # Near the open end the multiplication would wrap around.
    return np.where(instants > OPEN_END - granule, OPEN_END, rounded).astype(np.int64)
