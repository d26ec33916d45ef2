"""Logical streams: the multiset of rows that holds at each instant."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Row = tuple[Any, ...]
"""The values of one row in the order of the schema; NULL is None."""

Snapshot = Counter[Row]
"""The rows that hold at one instant, with their number of copies. Never changed in place."""

WholeRow = tuple[Row, int, int]
"""A row, and the first instants at which it holds and no longer holds."""

# Python finds a NaN in a dictionary only if it is the same object.
_NAN = float("nan")


class LogicalStream(Mapping[int, Snapshot]):
    """The snapshots of the instants 0 to `horizon`; empty ones are absent.

    >>> stream = LogicalStream({1: Counter({("a",): 2}), 3: Counter()}, horizon=5)
    >>> dict(stream)
    {1: Counter({('a',): 2})}
    >>> stream.at(2)
    Counter()
    """

    def __init__(self, snapshots: Mapping[int, Snapshot], horizon: int) -> None:
        self.horizon = horizon
        self._snapshots = {t: snapshots[t] for t in sorted(snapshots) if snapshots[t]}
        if any(not 0 <= t <= horizon for t in self._snapshots):
            raise ValueError(f"instants outside 0..{horizon}: {list(self._snapshots)}")

    @classmethod
    def build(cls, horizon: int, snapshot: Callable[[int], Snapshot]) -> LogicalStream:
        """The stream whose snapshot at every instant is given by a function."""
        return cls({t: snapshot(t) for t in range(horizon + 1)}, horizon)

    def at(self, instant: int) -> Snapshot:
        """The rows of one instant; none outside the known time."""
        return self._snapshots.get(instant, Counter())

    def rows(self) -> list[Row]:
        """All rows that occur at some instant, each once."""
        return list(dict.fromkeys(row for snapshot in self.values() for row in snapshot))

    def __getitem__(self, instant: int) -> Snapshot:
        return self._snapshots[instant]

    def __iter__(self) -> Iterator[int]:
        return iter(self._snapshots)

    def __len__(self) -> int:
        return len(self._snapshots)

    def __repr__(self) -> str:
        return f"LogicalStream({self._snapshots!r}, horizon={self.horizon})"


def total(snapshots: Iterable[Snapshot]) -> Snapshot:
    """All copies of several snapshots together."""
    result: Snapshot = Counter()
    for snapshot in snapshots:
        result.update(snapshot)
    return result


def snapshots_of(rows: Iterable[WholeRow], horizon: int) -> LogicalStream:
    """The rows at the instants at which they hold.

    >>> dict(snapshots_of([(("a",), 1, 3), (("a",), 2, 9)], horizon=2))
    {1: Counter({('a',): 1}), 2: Counter({('a',): 2})}
    """
    snapshots: dict[int, Snapshot] = {}
    for row, start, end in rows:
        for t in range(max(start, 0), min(end, horizon + 1)):
            snapshots.setdefault(t, Counter())[row] += 1
    return LogicalStream(snapshots, horizon)


def canonical(value: Any) -> Any:
    """The one form of all values that SQL cannot tell apart: one NaN, no -0.0; lists as tuples.

    >>> canonical([-0.0, {"a": 1}])
    (0.0, (1,))
    >>> canonical(float("nan")) is canonical(-float("nan"))
    True
    """
    if isinstance(value, float):
        return _NAN if math.isnan(value) else value + 0.0
    if isinstance(value, Mapping):
        return tuple(canonical(part) for part in value.values())
    if isinstance(value, (list, tuple)):
        return tuple(canonical(part) for part in value)
    return value


def canonical_row(values: Iterable[Any]) -> Row:
    """A row of canonical values, so that equal rows are equal keys."""
    return tuple(canonical(value) for value in values)
