"""Random rows: NULLs, duplicates, simultaneous and late ones, in random ticks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import pyarrow as pa

from tidemill.reference import in_time

TIME = "at"
_TYPES = {"k": pa.int32(), "v": pa.int64(), "f": pa.float64(), "s": pa.string(), TIME: pa.int64()}
FLOATS = (0.1, 0.2, 0.7, -1.5, 0.0, -0.0, 1e16, 3.0, float("nan"), float("inf"))
"""Values whose sum depends on the order in which a careless system adds them."""

EXACT_FLOATS = (0.5, 0.5, 1.5, 3.0, -1.5, 0.0, -0.0, 0.25, -2.0, float("nan"))
"""Values whose sum every system gets right."""


@dataclass(frozen=True)
class RandomStream:
    """Rows in the order in which they arrive, cut into ticks; how late and early they may be."""

    ticks: tuple[tuple[dict[str, Any], ...], ...]
    slack: int
    ahead: int | None = None

    @property
    def tables(self) -> list[pa.Table]:
        """One table per tick."""
        return [to_table(tick) for tick in self.ticks]

    @property
    def late_rows(self) -> int:
        """How many rows come too late, or are too far ahead of time."""
        return sum(map(len, self.ticks)) - len(self.in_time())

    def in_time(self) -> list[dict[str, Any]]:
        """The rows that are neither too late nor too far ahead of time."""
        times = [[row[TIME] for row in tick] for tick in self.ticks]
        rows = (row for tick in self.ticks for row in tick)
        counts = (good for tick in in_time(times, self.slack, self.ahead) for good in tick)
        return [row for row, good in zip(rows, counts, strict=True) if good]

    def __str__(self) -> str:
        ahead = "" if self.ahead is None else f", at most {self.ahead} ahead"
        lines = [f"  slack {self.slack}{ahead}"]
        for number, tick in enumerate(self.ticks):
            lines += [f"  tick {number}", *(f"    {row}" for row in tick)]
        return "\n".join(lines)


def to_table(rows: tuple[dict[str, Any], ...]) -> pa.Table:
    """Rows as an Arrow table."""
    schema = pa.schema(list(_TYPES.items()))
    return pa.Table.from_pylist([dict(row) for row in rows], schema=schema)


def random_row(random: Random, floats: Sequence[float] = FLOATS) -> dict[str, Any]:
    """One row; small domains, so that rows meet."""
    return {
        "k": random.choice([None, 0, 1, 1, 2]),
        "v": random.choice([None, -1, 0, 1, 2, 3, 2**40]),
        "f": None if random.random() < 0.15 else random.choice(floats),
        "s": random.choice([None, "a", "a", "b", "ä", ""]),
    }


def random_stream(
    random: Random,
    latest: int = 20,
    rows: tuple[int, int] = (0, 14),
    floats: Sequence[float] = FLOATS,
    ahead: bool = True,
) -> RandomStream:
    """A stream whose rows arrive out of order, some beyond the slack, or too far `ahead`."""
    slack = random.choice([0, 0, 1, 3, 8])
    times = [random.randint(0, latest) for _ in range(random.randint(*rows))]
    jitter = random.choice([0, slack, slack, slack + 3])
    times.sort(key=lambda time: time + random.uniform(0, jitter))
    made = [{**random_row(random, floats), TIME: time} for time in times]
    if made and random.random() < 0.3:
        made.append(dict(random.choice(made)))  # an exact copy, perhaps late
    ticks = _cut(random, made)
    return RandomStream(ticks, slack, _ahead(random) if ahead else None)


def _ahead(random: Random) -> int | None:
    return random.choice([0, 2, 4, 8]) if random.random() < 0.15 else None


def _cut(random: Random, rows: list[dict[str, Any]]) -> tuple[tuple[dict[str, Any], ...], ...]:
    count = random.randint(0, min(5, len(rows)))
    cuts = sorted(random.randint(0, len(rows)) for _ in range(count))
    bounds = zip([0, *cuts], [*cuts, len(rows)], strict=True)
    return tuple(tuple(rows[start:stop]) for start, stop in bounds)
