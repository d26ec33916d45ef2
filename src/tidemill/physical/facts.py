"""What operators say of themselves, beside what they compute: data that all layers above use."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tidemill.timeline import OPEN_END

Columns = tuple[str, ...]

NEVER = OPEN_END
"""What was missed will count for ever."""

PER_INSTANT = 1e12
"""The rows of a stream at an instant.

Where nothing is known of their rates, all streams count as equally fast, and as faster than
any relation is large; then windows, limits and numbers of rows tell which of two inputs is the
smaller one.
"""

UNKNOWN_ROWS = 1e6
"""The rows of a relation that was not handed over as a table, or of groups."""


@dataclass(frozen=True)
class RowValidity:
    """How long the rows of a plan hold.

    - `chronon`: every row holds for exactly one instant. Windows need such an input.
    - `end_order`: rows that start later do not end earlier, so state expires first in, first out.
    - `coalesced`: no row ends where an equal one starts, so there is nothing to merge.
    """

    chronon: bool = False
    end_order: bool = False
    coalesced: bool = False

    def __post_init__(self) -> None:
        if self.chronon:
            object.__setattr__(self, "end_order", True)


SOME_COLUMNS = "rows that are compared by some of their columns"
"""What the algebra cannot say: it compares rows by all of them."""


class PacedBy(Enum):
    """Which inputs set the watermark of an operator."""

    ALL = "all"
    FIRST = "first"  # the others are relations, which are there when they are needed
    OWN = "own"  # results that are still open hold it back


class Partitioning(Enum):
    """Which rows an operator wants in one partition, where no columns tell it."""

    ANY = "any"  # it looks at each row alone
    OWN = "own"  # `tidemill.stages.placement` knows
