"""Functions over the rows around a row, as SQL defines them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from datetime import date, datetime, timedelta
from typing import Any

from tidemill.algebra.nodes import SortKey
from tidemill.algebra.order import sorted_by, value_key
from tidemill.algebra.over_rows import OverCall, OverRows, RowFrame
from tidemill.reference.aggregates import answer_of
from tidemill.reference.order import sorted_copies
from tidemill.reference.run import ReferenceRun
from tidemill.reference.stream import LogicalStream, Row, Snapshot


def over_rows(plan: OverRows, run: ReferenceRun, child: LogicalStream) -> LogicalStream:
    """Every copy of a row with its values, partition by partition."""
    names = plan.child.schema.names
    by = [names.index(name) for name in plan.partition_by]

    def answers(t: int) -> Snapshot:
        partitions: dict[Row, list[Row]] = defaultdict(list)
        for row in sorted_copies(child.at(t)):
            partitions[tuple(row[at] for at in by)].append(row)
        return Counter(row for rows in partitions.values() for row in _answered(plan, rows))

    return LogicalStream.build(run.horizon, answers)


def _answered(plan: OverRows, rows: list[Row]) -> list[Row]:
    names = plan.child.schema.names
    # Sorting is stable: the last key goes first, and the order of rows is left for ties.
    for key in reversed(plan.order):
        rows = sorted_by(rows, names.index(key.column), key.descending, key.nulls_first)
    part = _Partition(names, rows, plan.order)
    return [
        row + tuple(part.answer(call, at) for call in plan.calls) for at, row in enumerate(rows)
    ]


class _Partition:
    """The rows of a partition in their order."""

    def __init__(self, names: tuple[str, ...], rows: list[Row], order: tuple[SortKey, ...]) -> None:
        self._names = names
        self._rows = rows
        self._order = order
        positions = [names.index(key.column) for key in order]
        self._keys = [tuple(value_key(row[at]) for at in positions) for row in rows]

    def answer(self, call: OverCall, at: int) -> Any:
        """The value of a function for the row at a place."""
        size, peers = len(self._rows), self._peers(at)
        match call.function:
            case "ROW_NUMBER":
                return at + 1
            case "RANK":
                return peers[0] + 1
            case "DENSE_RANK":
                return len(set(self._keys[: at + 1]))
            case "PERCENT_RANK":
                return peers[0] / (size - 1) if size > 1 else 0.0
            case "CUME_DIST":
                return (peers[-1] + 1) / size
            case "NTILE":
                return _bucket(at, size, call.options[0])
            case "LAG" | "LEAD":
                return self._shifted(call, at)
        frame = [n for n in range(size) if self._is_within(call.frame, at, n)]
        if call.aggregate is not None:
            return answer_of(call.aggregate, self._names, [self._rows[n] for n in frame])
        return self._picked(call, frame)

    def _peers(self, at: int) -> list[int]:
        return [n for n, key in enumerate(self._keys) if key == self._keys[at]]

    def _value(self, name: str, at: int) -> Any:
        return self._rows[at][self._names.index(name)]

    def _shifted(self, call: OverCall, at: int) -> Any:
        value, *default = call.arguments
        places = range(at - 1, -1, -1) if call.function == "LAG" else range(at + 1, len(self._rows))
        if call.ignores_nulls:
            known = [n for n in places if self._value(value, n) is not None]
        else:
            known = list(places)
        distance = call.options[0]
        if distance == 0:
            return self._value(value, at)
        if distance <= len(known):
            return self._value(value, known[distance - 1])
        return self._value(default[0], at) if default else None

    def _picked(self, call: OverCall, frame: list[int]) -> Any:
        values = [self._value(call.arguments[0], n) for n in frame]
        if call.ignores_nulls:
            values = [value for value in values if value is not None]
        place = {"FIRST_VALUE": 0, "LAST_VALUE": len(values) - 1}.get(call.function)
        place = call.options[0] - 1 if place is None else place
        return values[place] if 0 <= place < len(values) else None

    def _is_within(self, frame: RowFrame, at: int, n: int) -> bool:
        """Whether the row at place n is in the frame of the one at a place."""
        if frame.unit == "RANGE":
            first, last = self._range(frame, at)
            return first <= n <= last
        distance = n - at
        if frame.unit == "GROUPS":
            groups = sorted(set(self._keys), key=self._keys.index)
            distance = groups.index(self._keys[n]) - groups.index(self._keys[at])
        after = frame.start is None or distance >= frame.start
        return after and (frame.end is None or distance <= frame.end)

    def _range(self, frame: RowFrame, at: int) -> tuple[int, int]:
        """The first and the last place of a frame that goes by the value of the sort key.

        CURRENT ROW means all its equals. A NULL or NaN has only those in reach.
        """
        peers, last = self._peers(at), len(self._rows) - 1
        usual = [n for n in range(len(self._rows)) if not self._is_odd(n)]
        odd = self._is_odd(at)
        if frame.start is None:
            first = 0
        elif frame.start == 0 or odd:
            first = peers[0]
        else:
            near = [n for n in usual if self._reaches(at, n, frame.start)]
            first = near[0] if near else usual[-1] + 1
        if frame.end is None:
            return first, last
        if frame.end == 0 or odd:
            return first, peers[-1]
        far = [n for n in usual if self._reaches(at, n, frame.end, beyond=True)]
        return first, far[0] - 1 if far else usual[-1]

    def _reaches(self, at: int, n: int, distance: float, beyond: bool = False) -> bool:
        """Whether the key of row n is as far from that of another row as the distance, or more."""
        (key,) = self._order
        here, there = (_number(self._value(key.column, place)) for place in (at, n))
        if key.descending:
            return bool(there < here - distance if beyond else there <= here - distance)
        return bool(there > here + distance if beyond else there >= here + distance)

    def _is_odd(self, at: int) -> bool:
        values = [self._value(key.column, at) for key in self._order]
        return any(v is None or (isinstance(v, float) and math.isnan(v)) for v in values)


def _number(value: Any) -> Any:
    """A number as it is; microseconds of a timestamp, days of a date."""
    if not isinstance(value, date):
        return value
    if isinstance(value, datetime):
        return (value - datetime(1970, 1, 1)) // timedelta(microseconds=1)
    return value.toordinal()


def _bucket(at: int, size: int, buckets: int) -> int:
    """The bucket of a row, if the first ones get what is left over."""
    small, larger = divmod(size, buckets)
    sizes = [small + (n < larger) for n in range(buckets)]
    bounds = [sum(sizes[: n + 1]) for n in range(buckets)]
    return next(n for n, bound in enumerate(bounds, 1) if at < bound)
