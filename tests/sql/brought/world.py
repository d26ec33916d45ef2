"""The data of the queries that people bring along: bicycles that are hired and returned."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import tidemill as tm

_HIRES = [
    ("b1", "ann", "4.00", 2.5, ["city", "rain"], 2),
    ("b2", "bob", "2.50", 1.0, ["city"], 5),
    ("b1", "cy", "6.00", 7.5, [], 9),
    ("b3", "ann", "3.00", 4.0, ["park"], 13),
    ("b2", "dee", None, None, None, 17),
    ("b1", "ann", "5.00", 3.0, ["rain", "park"], 34),
]
_ENDINGS = [("b1", "quay", 7), ("b2", "mill", 16), ("b1", "quay", 20), ("b3", "moor", 21)]
_TARIFFS = [("b1", "1.00", 0, 9), ("b1", "1.50", 9, None), ("b2", "0.80", 0, None)]
_MEMBERS = [("ann", "gold", 0, 10), ("ann", "iron", 10, None), ("bob", "iron", 4, None)]


def instant(minute: int | None) -> datetime | None:
    """A minute of the hour in which all of this happens."""
    return None if minute is None else datetime(2024, 5, 1, 9, minute)


def _money(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


def _rows(names: str, values: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    return [dict(zip(names.split(), row, strict=True)) for row in values]


def engine() -> tm.Engine:
    """An engine that knows the bicycles, a function and an aggregate."""
    made = tm.Engine(runtime="inprocess")
    made.function("miles", lambda km: None if km is None else km / 1.6, returns="DOUBLE")
    made.aggregate(
        "product", init=float, merge=lambda a, b: a * b, eval=lambda x: x, returns="DOUBLE"
    )
    hires = [(*row[:2], _money(row[2]), *row[3:5], instant(row[5])) for row in _HIRES]
    made.stream("hire", _rows("bike rider fare km tags ts", hires), time="ts")
    endings = [(bike, station, instant(at)) for bike, station, at in _ENDINGS]
    made.stream("ending", _rows("bike station ts", endings), time="ts")
    stations = [("quay", "Leith", 12), ("mill", "Leith", 8), ("moor", "Crail", None)]
    made.relation("station", _rows("station town docks", stations))
    tariffs = [(b, _money(rate), instant(a), instant(z)) for b, rate, a, z in _TARIFFS]
    made.relation("tariff", _rows("bike rate a z", tariffs), valid=("a", "z"))
    members = [(rider, level, instant(a), instant(z)) for rider, level, a, z in _MEMBERS]
    made.relation("member", _rows("rider level a z", members), changing=("a", "z"))
    return made
