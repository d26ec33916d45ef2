"""The stations of the tour: a question, its query, and what to draw of the answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from tidemill.cli.auction import OPENING
from tidemill.cli.show import ShownAnswer


@dataclass(frozen=True)
class Station:
    """One question; `prepare` are statements that come before its query."""

    title: str
    words: str
    sql: str
    view: ShownAnswer
    prepare: str = ""


def _at(hours: int, minutes: int = 0) -> datetime:
    return OPENING + timedelta(hours=hours, minutes=minutes)


IDEA = Station(
    "The one idea",
    "A window says how long a row holds: under RANGE 2 MINUTES, a bid made at t holds in "
    "[t, t + 2 minutes). Every row of every result carries such an interval.",
    """
SELECT price, bidder
FROM bid WINDOW(RANGE 2 MINUTES)
WHERE item = 'globe'
""",
    ShownAnswer(_at(0, 2), 8, "price", lanes=6),
)

COUNT = Station(
    "A sliding aggregate, exact at every instant",
    "At each instant, the answer is that of the ordinary SQL query over the rows that hold then. "
    "It changes when a bid comes and when one goes: no hops, no batches.",
    """
SELECT COUNT(*) AS bids, MAX(price) AS best
FROM bid WINDOW(RANGE 2 MINUTES)
WHERE item = 'globe'
""",
    ShownAnswer(_at(0, 2), 8, None, ("bids",), name="bids"),
)

HOT = Station(
    "The hottest items of the last half hour",
    "Subqueries work over windows too: here >= ALL, a comparison with every group. "
    "Items with equally many bids share the lead.",
    """
SELECT h.item
FROM (SELECT item, COUNT(*) AS bids
      FROM bid WINDOW(RANGE 30 MINUTES) GROUP BY item) AS h
WHERE h.bids >= ALL (SELECT COUNT(*)
                     FROM bid WINDOW(RANGE 30 MINUTES) GROUP BY item)
""",
    ShownAnswer(_at(0), 150, "item"),
)

SELLERS = Station(
    "Each seller's last three sales",
    "A join of two streams makes a third, `sold`. A partitioned window then keeps the last 3 rows "
    "of every seller: their mean holds until the next sale.",
    """
SELECT seller, ROUND(AVG(price)) AS mean
FROM sold WINDOW(PARTITION BY seller ROWS 3)
GROUP BY seller
""",
    ShownAnswer(_at(0, 30), 240, "seller", ("mean",)),
    prepare="""
CREATE STREAM sold AS
SELECT o.item, o.seller, c.price
FROM opened AS o WINDOW(RANGE 2 HOURS) JOIN closed AS c ON o.item = c.item;
""",
)

ON_SALE = Station(
    "On sale now",
    "Items opened in the last 90 minutes and not closed yet: a difference of two windows.",
    """
SELECT item FROM opened WINDOW(RANGE 90 MINUTES)
EXCEPT
SELECT item FROM closed WINDOW(RANGE 2 HOURS)
""",
    ShownAnswer(_at(0), 150, "item"),
)

WRONG = """\
SELECT item, MAX(prise) AS best
FROM bid WINDOW(RANGE 10 MINUTES)
GROUP BY item"""

STATIONS = (IDEA, COUNT, HOT, SELLERS, ON_SALE)
