"""Queries of ten shapes over one stream: one query for every user, device or rule."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
import pyarrow as pa

from tidemill import Engine

RATE = 10_000
"""Rows per second."""
SECOND = 1_000
"""Time is counted in milliseconds."""
KEYS = 100_000
"""The values of items and bidders."""
PRICES = 10_000
CATEGORIES = 100

_WINDOW = "bid WINDOW(RANGE 60000)"
SHAPES = (
    "SELECT item, price FROM bid WHERE item = {key} AND price > {price}",
    "SELECT bidder, price FROM bid WHERE bidder = {key}",
    f"SELECT category, COUNT(*) AS n FROM {_WINDOW} WHERE bidder = {{key}} GROUP BY category",
    f"SELECT item, MAX(price) AS m FROM {_WINDOW} WHERE item = {{key}} GROUP BY item",
    f"SELECT COUNT(*) AS n FROM {_WINDOW} WHERE item = {{key}} AND price BETWEEN 9 AND {{price}}",
    f"SELECT SUM(price) AS s FROM {_WINDOW} WHERE item = {{key}} AND category < {{category}}",
    f"SELECT DISTINCT bidder FROM {_WINDOW} WHERE item = {{key}}",
    f"SELECT bidder, COUNT(*) AS n FROM {_WINDOW} WHERE item = {{key}} GROUP BY bidder "
    "HAVING COUNT(*) > {few}",
    f"SELECT category, AVG(price) AS x FROM {_WINDOW} WHERE bidder = {{key}} AND price < {{price}} "
    "GROUP BY category",
    "SELECT item, bidder, price FROM bid WHERE price > {dear}",
)
ROW = pa.schema(
    {name: pa.int64() for name in ("item", "bidder", "category", "price", "at")},
)


@dataclass(frozen=True)
class Shapes:
    """Queries and rows of one seed."""

    seed: int = 0

    def declare(self, engine: Engine) -> None:
        """Make the stream."""
        engine.stream("bid", ROW, time="at")

    def queries(self, count: int, first: int = 0) -> list[str]:
        """So many queries, of all shapes in turn; each depends on its number only."""
        return [self._query(number) for number in range(first, first + count)]

    def _query(self, number: int) -> str:
        random = Random(f"{number} {self.seed}")
        return SHAPES[number % len(SHAPES)].format(
            key=random.randrange(KEYS),
            price=random.randrange(10, PRICES),
            category=random.randrange(CATEGORIES),
            few=random.randrange(3),
            dear=random.randrange(PRICES - 10, PRICES),
        )

    def tables(self, second: int) -> dict[str, pa.Table]:
        """The rows of one second."""
        random = np.random.default_rng((self.seed, second))
        tops = (KEYS, KEYS, CATEGORIES, PRICES)
        columns = [random.integers(0, top, RATE) for top in tops]
        times = np.sort(random.integers(second * SECOND, (second + 1) * SECOND, RATE))
        return {"bid": pa.table([*columns, times], schema=ROW)}
