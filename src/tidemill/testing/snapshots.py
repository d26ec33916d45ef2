"""Results with validity intervals, read and compared instant by instant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from tidemill.reference import LogicalStream, Row, Snapshot, canonical_row
from tidemill.timeline import OPEN_END, VALID_FROM, VALID_TO

Element = tuple[Row, int, int]
"""A row and the half-open interval in which it holds; the end may be `OPEN_END`."""

Elements: TypeAlias = pa.Table | Iterable[tuple[Sequence[Any], int, int | None]]

_SHOWN = 5


def elements(source: Elements) -> list[Element]:
    """The rows of a result with their intervals; NaN and -0.0 take one form each.

    >>> elements(pa.table({"n": [-0.0], "valid_from": [3], "valid_to": [5]}))
    [((0.0,), 3, 5)]
    """
    triples = _of_table(source) if isinstance(source, pa.Table) else source
    return [
        (canonical_row(row), start, OPEN_END if end is None else end) for row, start, end in triples
    ]


def _of_table(table: pa.Table) -> list[tuple[Row, int, int | None]]:
    payload = table.drop_columns([VALID_FROM, VALID_TO])
    columns = [column.to_pylist() for column in payload.columns]
    starts, ends = _instants(table[VALID_FROM]), _instants(table[VALID_TO])
    return [
        (tuple(column[number] for column in columns), starts[number], ends[number])
        for number in range(table.num_rows)
    ]


def _instants(column: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us"))
    values: list[Any] = column.cast(pa.int64()).to_pylist()
    return values


def snapshot_at(source: Elements, instant: int) -> Snapshot:
    """The rows that hold at an instant, with their number of copies.

    >>> snapshot_at([(("a",), 1, 5), (("a",), 3, None), (("b",), 0, 3)], 3)
    Counter({('a',): 2})
    """
    return _holding(elements(source), instant)


def _holding(found: list[Element], instant: int) -> Snapshot:
    return Counter(row for row, start, end in found if start <= instant < end)


def endpoints(intervals: Iterable[tuple[int, int | None]]) -> list[int]:
    """Every start and end, and one chronon on both sides: where a mistake would show.

    >>> endpoints([(1, 5), (5, None)])
    [0, 1, 2, 4, 5, 6]
    """
    ends = {end for interval in intervals for end in interval if end not in (None, OPEN_END)}
    around = {end + step for end in ends if end is not None for step in (-1, 0, 1)}
    return sorted(instant for instant in around if instant >= 0)


def assert_snapshots_equal(
    result: Elements, expected: LogicalStream, instants: Iterable[int]
) -> None:
    """Fail, naming the missing and extra rows, unless the snapshots at the instants are equal."""
    found = elements(result)
    checked = sorted(set(instants))
    if checked and checked[-1] > expected.horizon:
        raise ValueError(f"instant {checked[-1]} is after the horizon {expected.horizon}")
    faults = [t for t in checked if _holding(found, t) != expected.at(t)]
    if faults:
        lines = [_difference(t, _holding(found, t), expected.at(t)) for t in faults[:_SHOWN]]
        title = f"snapshots differ at {len(faults)} of {len(checked)} instants: {faults}"
        raise AssertionError("\n".join([title, *lines]))


def _difference(instant: int, found: Snapshot, expected: Snapshot) -> str:
    lines = [f"at {instant}:"]
    for word, rows in (("missing", expected - found), ("extra", found - expected)):
        lines += [f"  {word} {copies} × {row}" for row, copies in rows.items()]
    return "\n".join(lines)
