"""Relations that change: where their rows and their changes come from."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

OPERATION = "#op"
"""Of a change: 1 for a row that was inserted, -1 for one that was deleted."""

INSTANT = "#at"
"""Of a change: the instant from which it counts, NULL for the instant at which it is seen."""

INSERTED, DELETED = "#from", "#to"
"""Of a row: the instants of its insertion and deletion, where the past of a relation is known."""


class ChangeSource(Protocol):
    """A table outside the engine that others insert into and delete from.

    Tables have the declared columns of the relation; those of changes also `OPERATION` (int8) and
    `INSTANT` (int64), in the order in which the changes were made. A change of a row is the
    deletion of the old and the insertion of the new one. Positions are texts that only the source
    understands; they outlive it.
    """

    def content(self) -> tuple[pa.Table, str]:
        """All rows that are there now, and the position after which changes follow.

        If the past is known, also rows that were there, all with `INSERTED` and `DELETED` (int64).
        """

    def changes(self, position: str) -> tuple[pa.Table, str]:
        """What was changed since a position, every change once, and the position after it."""
