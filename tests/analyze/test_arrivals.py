"""What a row of a stream finds in a time-varying relation: what is active when it arrives.

The conditions are written out here, pair by pair, and compared with the plans of SQL.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from typing import Any

import pytest

from tests.analyze.world import plan
from tidemill.reference import evaluate

HORIZON = 14
LIFE = {"b": 5, "a": 3}

Stream = list[tuple[dict[str, Any], int]]
Relation = list[tuple[dict[str, Any], int, int | None]]


def random_world(seed: int) -> tuple[Stream, Stream, Relation]:
    rng = random.Random(seed)

    def value() -> int | None:
        return None if rng.random() < 0.15 else rng.randint(1, 3)

    bids = [
        ({"item": value(), "price": float(rng.randint(1, 9)), "bidder": "x"}, rng.randint(0, 9))
        for _ in range(rng.randint(0, 7))
    ]
    auctions = [
        ({"item": value(), "seller": value(), "reserve": None}, rng.randint(0, 9))
        for _ in range(rng.randint(0, 7))
    ]
    offers: Relation = []
    for _ in range(rng.randint(0, 7)):
        begin = rng.randint(0, 8)
        end = rng.choice([None, begin + rng.randint(1, 6)])
        offers.append(({"item": value(), "seller": value(), "note": "n"}, begin, end))
    return bids, auctions, offers


def active(offer: tuple[dict[str, Any], int, int | None], at: int) -> bool:
    _, begin, end = offer
    return begin <= at and (end is None or at < end)


def equal(one: Any, other: Any) -> bool:
    return one is not None and one == other


Snapshots = dict[int, Counter[tuple[Any, ...]]]


def kept(rows: list[tuple[tuple[Any, ...], int, int]]) -> Snapshots:
    found: Snapshots = {}
    for row, start, end in rows:
        for t in range(start, min(end, HORIZON + 1)):
            found.setdefault(t, Counter())[row] += 1
    return found


@pytest.mark.parametrize("seed", range(40))
def test_join_semi_join_and_anti_join(seed: int) -> None:
    bids, auctions, offers = random_world(seed)
    data = {"bid": bids, "auction": auctions, "offer": offers}
    joined, with_offer, without = [], [], []
    for bid, at in bids:
        matches = [o for o in offers if active(o, at) and equal(o[0]["item"], bid["item"])]
        row, until = (bid["item"], bid["price"]), at + LIFE["b"]
        joined += [((*row, offer["seller"]), at, until) for offer, _, _ in matches]
        (with_offer if matches else without).append((row, at, until))
    stream = "bid WINDOW(RANGE 5) b"
    offered = "(SELECT 1 FROM offer o WHERE o.item = b.item)"
    for sql, expected in (
        (f"SELECT b.item, b.price, o.seller FROM {stream} JOIN offer o USING (item)", joined),
        (f"SELECT item, price FROM {stream} WHERE EXISTS {offered}", with_offer),
        (f"SELECT item, price FROM {stream} WHERE NOT EXISTS {offered}", without),
    ):
        assert dict(evaluate(plan(sql).plan, data, HORIZON)) == kept(expected), sql


@pytest.mark.parametrize("seed", range(40))
def test_star_join(seed: int) -> None:
    bids, auctions, offers = random_world(seed)
    data = {"bid": bids, "auction": auctions, "offer": offers}
    expected = []
    for (bid, at), (auction, when), offer in product(bids, auctions, offers):
        matches = equal(offer[0]["item"], bid["item"])
        matches = matches and equal(offer[0]["seller"], auction["seller"])
        if matches and active(offer, at) and active(offer, when):
            start, end = max(at, when), min(at + LIFE["b"], when + LIFE["a"])
            expected.append(((bid["price"], auction["item"]), start, end))
    sql = (
        "SELECT b.price, a.item FROM bid WINDOW(RANGE 5) b, offer o, auction WINDOW(RANGE 3) a "
        "WHERE b.item = o.item AND o.seller = a.seller"
    )
    for text in (sql, f"{sql} SHED TO 1 ROWS BY b.price"):
        # What is shed is not part of the definition.
        assert dict(evaluate(plan(text).plan, data, HORIZON)) == kept(expected), text
