"""The total order of values and rows, and the first rows of a snapshot."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tidemill.algebra import SortKey, TopK
from tidemill.algebra.order import value_key
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
            rows = _sorted_by(rows, position, key)
        return Counter(rows[plan.offset : plan.offset + plan.limit])

    return LogicalStream.build(run.horizon, first)


def _sorted_by(rows: list[Row], position: int, key: SortKey) -> list[Row]:
    rows = sorted(rows, key=lambda row: value_key(row[position]), reverse=key.descending)
    nulls = [row for row in rows if row[position] is None]
    others = [row for row in rows if row[position] is not None]
    return nulls + others if key.nulls_first else others + nulls
