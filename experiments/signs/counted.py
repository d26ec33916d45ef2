"""When the rows of a count-based window become known: by each approach, and by our operators."""

from __future__ import annotations

import random
from statistics import mean

import pyarrow as pa

from experiments.signs.flow import FOR_EVER
from experiments.signs.measure import KITS, Arrival, timed_answers
from experiments.signs.plans import newest_numbers
from tidemill import Engine, Query

RATE, NUMBERS = 50, 1000
SECOND = 1_000_000


def numbers() -> list[Arrival]:
    """Random numbers at a constant rate."""
    dice = random.Random(1)
    return [("numbers", n * SECOND // RATE, (dice.random(),)) for n in range(NUMBERS)]


def known(approach: str, size: int) -> list[tuple[float, float]]:
    """For each row that becomes known while the stream runs: when, and how long after its start."""
    found = timed_answers(KITS[approach], newest_numbers(size), numbers())
    return [
        (given / SECOND, (given - element[1]) / SECOND)
        for given, element in found
        if given < FOR_EVER and element[2] > 0  # a negative tells nothing of a new row
    ]


def known_to_us(size: int) -> list[tuple[float, float]]:
    """The same for our operators, with a tick for every row."""
    engine = Engine(runtime="inprocess")
    tables = [pa.table({"x": list(row), "ts": [at]}) for _, at, row in numbers()[:200]]
    engine.stream("numbers", tables, time="ts")
    query = engine.sql(f"SELECT x FROM numbers WINDOW(ROWS {size})")
    assert isinstance(query, Query)
    # Without the last tick, with which the stream ends and all becomes known.
    ticks = zip((n / RATE for n in range(len(tables) - 1)), query.ticks(), strict=False)
    return [
        (given, given - start / SECOND)
        for given, table in ticks
        for start in table["valid_from"].to_pylist()
    ]


def delay(rows: list[tuple[float, float]]) -> float | None:
    """The mean delay."""
    return mean(late for _, late in rows) if rows else None
