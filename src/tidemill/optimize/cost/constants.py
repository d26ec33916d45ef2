"""What single steps of our operators cost, as measured by `benchmarks/calibrate.py`.

This is the only table of costs: for what a plan needs, for the orders of joins, for aggregation
before joins, and for relations that are small enough to go to every partition.

The text's constants are for another machine and for operators that work row by row. Ours work on
columns, so what counts is rows in, rows out, and what is kept; a fixed cost of every tick comes on
top, which is only counted where plans differ in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Steps:
    """One kind of operator: nanoseconds per row that arrives, per key that was not there, per pair
    that a join looks at and per row put out; bytes per row and per key that is kept, besides
    their columns; nanoseconds per tick, however few rows it brings."""

    arrive: float = 0.0
    key: float = 0.0
    compare: float = 0.0
    emit: float = 0.0
    row_bytes: float = 0.0
    key_bytes: float = 0.0
    tick: float = 0.0


Constants = Mapping[str, Steps]
"""Steps by kind of operator."""

MEASURED: Constants = {
    "filter": Steps(arrive=34, tick=50_000),
    "project": Steps(arrive=33, tick=34_000),
    "unnest": Steps(arrive=40, emit=30, tick=60_000),
    "time window": Steps(arrive=4, tick=35_000),
    "count window": Steps(arrive=376, row_bytes=41, key_bytes=80, tick=1_116_000),
    "granularity": Steps(arrive=5, emit=5, tick=71_000),
    "split": Steps(arrive=50, emit=16, row_bytes=16, tick=126_000),
    "changes": Steps(emit=229, row_bytes=60, tick=546_000),
    "union": Steps(tick=47_000),
    "distinct": Steps(arrive=65, key=71, emit=65, key_bytes=37, tick=429_000),
    "coalesce": Steps(arrive=45, row_bytes=37, tick=521_000),
    "aggregate": Steps(arrive=86, key=106, emit=16, row_bytes=6, key_bytes=38, tick=434_000),
    "total": Steps(arrive=25, key=5, emit=12, row_bytes=7, key_bytes=19, tick=255_000),
    "extreme": Steps(arrive=52, key=56, emit=9, row_bytes=2, key_bytes=43, tick=315_000),
    "top-k": Steps(arrive=502, row_bytes=96, tick=649_000),
    "over rows": Steps(arrive=500, compare=60, emit=100, row_bytes=24, tick=1_500_000),
    "eaa": Steps(arrive=1600, row_bytes=150),
    "sla": Steps(arrive=1000, row_bytes=300),
    "approximate": Steps(arrive=1300, row_bytes=150),
    "join": Steps(arrive=233, compare=83, row_bytes=24, tick=137_000),
    "semi-join": Steps(arrive=231, emit=79, row_bytes=33, key_bytes=1, tick=532_000),
    "anti-join": Steps(arrive=421, compare=329, row_bytes=25, key_bytes=27, tick=1_245_000),
    "difference": Steps(arrive=378, row_bytes=71, tick=1_019_000),
}
"""November 2026: two cores of a virtual machine on a current server, shared with other work, one
thread for every operator. The model is within a factor of two of every run it was fitted to."""
