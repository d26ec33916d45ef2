"""A few bids, and the answers about them, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.matrix.ways import Row

BID = "CREATE STREAM bid (item BIGINT, price BIGINT, at BIGINT) ORDERED BY at"
HOT = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 4) GROUP BY item"
FAR = 100
"""An instant after everything."""

Bid = tuple[int, int, int]
Sent = dict[str, Any]


def bids(*rows: Bid) -> list[dict[str, Any]]:
    """Bids with the item, the price and the time of each."""
    return [dict(zip(("item", "price", "at"), row, strict=True)) for row in rows]


FIRST = bids((1, 10, 3), (1, 30, 5), (2, 20, 6))
ANSWER = [(1, 1, 3, 5), (1, 1, 7, 9), (1, 2, 5, 7), (2, 1, 6, 10)]
"""How many bids there are for an item, at which times."""

CHANGES = sorted(
    change
    for item, n, start, end in ANSWER
    for change in ((item, n, start, "+"), (item, n, end, "-"))
)

UNTIL_6 = [(1, 1, 3, 5), (1, 2, 5, 6)]
"""What is known when the last bid has come, as far as it is known."""


def at(rows: Sequence[Row], instant: int) -> list[Row]:
    """What holds at an instant."""
    return sorted(row[:-2] for row in rows if row[-2] <= instant < (row[-1] or instant + 1))


def merged(rows: Sequence[Row]) -> list[Row]:
    """Rows that go on where equal ones end are one."""
    found: list[Row] = []
    for row in sorted(rows, key=lambda row: (row[:-2], row[-2])):
        if found and found[-1][:-2] == row[:-2] and found[-1][-1] == row[-2]:
            row = (*row[:-2], found.pop()[-2], row[-1])
        found.append(row)
    return sorted(found)


def netted(changes: Sequence[Row]) -> list[Row]:
    """Changes without rows that come and go at the same instant."""
    left: dict[Row, int] = {}
    for *row, sign in changes:
        left[tuple(row)] = left.get(tuple(row), 0) + (1 if sign == "+" else -1)
    signed = [(*row, "+" if n > 0 else "-") for row, n in left.items() for _ in range(abs(n))]
    return sorted(signed)
