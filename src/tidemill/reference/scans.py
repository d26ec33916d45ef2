"""Sources, turned into snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from tidemill.algebra import VERSION, Scan, Schema, SourceKind
from tidemill.reference.run import ReferenceRun
from tidemill.reference.stream import LogicalStream, Row, WholeRow, canonical_row, snapshots_of
from tidemill.timeline import OPEN_END

Record = Mapping[str, Any]

SourceData = (
    Sequence[tuple[Record, int]] | Sequence[tuple[Record, int, int | None]] | Sequence[Record]
)
"""The rows of a source, as dictionaries of all its columns.

A stream has pairs (row, instant), a temporal or time-varying relation (row, start, end) where None
or `OPEN_END` is an open end, a constant relation just rows.
"""


def scan(plan: Scan, run: ReferenceRun, data: SourceData) -> LogicalStream:
    """The rows of a source at the instants at which they hold.

    >>> bids = Scan("bid", "b", Schema.of(item=pa.int64()))
    >>> dict(scan(bids, ReferenceRun(9, {}), [({"item": 7}, 3), ({"item": 7}, 3)]))
    {3: Counter({(7,): 2})}
    """
    return snapshots_of(scanned(plan, data), run.horizon)


def scanned(plan: Scan, data: SourceData) -> list[WholeRow]:
    """The rows of a source with their validity."""
    elements = [_element(plan.kind, entry) for entry in data]
    records = [{VERSION: number, **record} for number, (record, _, _) in enumerate(elements)]
    rows = _typed_rows(plan.columns, records)
    return [(row, start, end) for row, (_, start, end) in zip(rows, elements, strict=True)]


def _element(kind: SourceKind, entry: Any) -> tuple[Record, int, int]:
    if kind is SourceKind.CONSTANT:
        return entry, 0, OPEN_END
    if kind is SourceKind.STREAM:
        record, instant = entry
        return record, instant, instant + 1
    record, start, end = entry
    return record, start, OPEN_END if end is None else end


def _typed_rows(columns: Schema, records: Sequence[Record]) -> list[Row]:
    """The values as the column types hold them: a FLOAT has 24 bits, a DECIMAL its scale."""
    values = [
        pa.array([record[field.name] for record in records], type=field.type).to_pylist()
        for field in columns
    ]
    return [canonical_row(column[number] for column in values) for number in range(len(records))]
