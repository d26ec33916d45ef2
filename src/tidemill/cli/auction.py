"""The data of the demo: an auction house in the course of an afternoon."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

OPENING = datetime(2024, 3, 1, 12)
HOURS = 6
SLACK_SECONDS = 30
_ITEMS = (
    "globe", "violin", "clock", "mirror", "lamp", "carpet", "chess set", "camera", "atlas",
    "teapot", "sextant", "telescope", "painting", "armchair", "vase", "record player",
    "typewriter", "barometer", "chandelier", "desk", "music box", "tapestry", "ring", "cabinet",
)  # fmt: skip
Row = dict[str, Any]
_SELLERS = ("Ada", "Ben", "Cleo", "Dan")


@dataclass(frozen=True)
class Auction:
    """The streams of the auction house: bids as ticks, openings and closings as tables."""

    bids: list[pa.Table]
    opened: pa.Table
    closed: pa.Table

    @property
    def rows(self) -> int:
        return sum(tick.num_rows for tick in (*self.bids, self.opened, self.closed))


def auction(seed: int = 3) -> Auction:
    """An afternoon that depends only on the seed; bids arrive up to 30 seconds out of order."""
    rng = random.Random(seed)
    opened, closed, bids = [], [], []
    for number, item in enumerate(_ITEMS):
        start = OPENING + timedelta(minutes=13 * number + rng.randint(0, 6))
        price = rng.randint(2, 40) * 5
        offers = _offers(rng, item, start, price)
        seller = rng.choice(_SELLERS)
        opened.append({"item": item, "seller": seller, "price": price, "ts": start})
        end = offers[-1]["ts"] + timedelta(minutes=5)
        closed.append({"item": item, "price": offers[-1]["price"], "ts": end})
        bids += offers
    closed.sort(key=lambda row: row["ts"])
    tables = (pa.Table.from_pylist(rows) for rows in (opened, closed))
    return Auction(_ticks(rng, bids), *tables)


def _offers(rng: random.Random, item: str, start: datetime, price: int) -> list[Row]:
    """Bids on an item: always higher, and denser towards the end."""
    offers = []
    length = rng.uniform(25, 75) * 60
    count = rng.randint(60, 200)
    moments = (length * rng.random() ** 0.7 for _ in range(count))
    times = sorted(start + timedelta(seconds=int(moment)) for moment in moments)
    for time in times:
        price += rng.randint(1, 8)
        bidder = rng.randint(1, 200)
        offers.append({"item": item, "price": price, "bidder": bidder, "ts": time})
    return offers


def _ticks(rng: random.Random, bids: list[Row], size: int = 500) -> list[pa.Table]:
    def arrival(bid: Row) -> float:
        time: datetime = bid["ts"]
        return (time - OPENING).total_seconds() + rng.uniform(0, SLACK_SECONDS)

    arrived = sorted(bids, key=arrival)
    parts = (arrived[start : start + size] for start in range(0, len(arrived), size))
    return [pa.Table.from_pylist(part) for part in parts]
