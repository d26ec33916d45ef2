"""Sizes that change while a query runs: of windows and of granules.

A change (t, size) is about the rows that start at or after t. Rows that started before keep the
size that they have, so nothing that was said about them is taken back.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple


class Bounds(NamedTuple):
    """The smallest and largest size that a user allows, and of which window of the query.

    Windows of a query have different names, so that each can be followed: rules may
    make several operators of it, and these must be adjusted together.
    """

    low: int
    high: int
    window: str = ""


Changes = tuple[tuple[int, int], ...]
"""Changes of a size, in the order of their instants."""


def size_at(first: int | None, changes: Changes, start: int) -> int | None:
    """The size of a row that starts then; `first` is that before all changes.

    >>> [size_at(50, ((7, 20), (9, 30)), start) for start in (6, 7, 8, 9)]
    [50, 20, 20, 30]
    """
    before = bisect_right([at for at, _ in changes], start)
    return changes[before - 1][1] if before else first


def sizes(first: int | None, changes: Changes) -> Iterator[int | None]:
    """All sizes that rows may have, from the first to the last."""
    yield first
    yield from (size for _, size in changes)


def shown_size(first: int | None, changes: Changes) -> str:
    """Sizes for people.

    >>> shown_size(50, ((7, 20),)), shown_size(None, ())
    ('50 [20 from 7]', 'unbounded')
    """
    text = "unbounded" if first is None else str(first)
    later = ", ".join(f"{size} from {at}" for at, size in changes)
    return f"{text} [{later}]" if later else text


def check_changes(first: int | None, changes: Changes) -> None:
    """Fail unless there is a size to change, and changes are in order."""
    if not changes:
        return
    if first is None:
        raise ValueError("a size without bound does not change")
    instants = [at for at, _ in changes]
    if instants != sorted(set(instants)):
        raise ValueError(f"changes out of order: {changes}")
    if min(size for _, size in changes) < 1:
        raise ValueError(f"a size below 1: {changes}")
