"""The plans of an aggregation over a join: one for each choice of inputs aggregated early."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Mask: TypeAlias = tuple[bool, ...]
# One row per plan, one column per input.
Masks: TypeAlias = npt.NDArray[np.bool_]
# One number per plan.
Costs: TypeAlias = npt.NDArray[np.float64]


def all_masks(allowed: Sequence[bool]) -> Masks:
    """Every plan that aggregates early only where it is allowed, the late plan first.

    The order is the text's: the number of a plan is its mask, read as binary digits.

    >>> all_masks([True, True]).astype(int).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    free = np.flatnonzero(allowed)
    digits = np.arange(2 ** len(free))[:, None] >> np.arange(len(free))[::-1]
    masks = np.zeros((len(digits), len(allowed)), dtype=np.bool_)
    masks[:, free] = digits & 1
    return masks


def plan_name(mask: Iterable[bool]) -> str:
    """The text's name of a plan.

    >>> plan_name((True, False)), plan_name((False, False))
    ('EAP10', 'LAP')
    """
    digits = "".join(str(int(early)) for early in mask)
    return f"EAP{digits}" if "1" in digits else "LAP"
