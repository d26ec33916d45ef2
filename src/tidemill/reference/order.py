"""The total order of values and rows, and the first rows of a snapshot."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tidemill.algebra import TopK
from tidemill.algebra.order import sorted_by, value_key
from tidemill.reference.run import ReferenceRun
from tidemill.reference.stream import LogicalStream, Row, Snapshot


def row_key(row: Row) -> tuple[Any, ...]:
    """A sort key of whole rows: column by column, in the order of the schema."""
    return tuple(value_key(value) for value in row)


def sorted_copies(snapshot: Snapshot) -> list[Row]:
    """All copies of a snapshot in the total order of rows."""
    return sorted(snapshot.elements(), key=row_key)


def top(plan: TopK, run: ReferenceRun, child: LogicalStream) -> LogicalStream:
    """The copies `offset` to `offset + limit` of every instant."""
    names = plan.schema.names
    keys = [(names.index(key.column), key) for key in plan.order]

    def first(t: int) -> Snapshot:
        rows = sorted_copies(child.at(t))
        # Sorting is stable: the last key goes first, and the order of rows is left for ties.
        for position, key in reversed(keys):
            rows = sorted_by(rows, position, key.descending, key.nulls_first)
        return Counter(rows[plan.offset : plan.offset + plan.limit])

    return LogicalStream.build(run.horizon, first)
