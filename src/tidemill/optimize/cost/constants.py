"""What single steps of our operators cost, as measured by `benchmarks/calibrate.py`.

The text's constants are for another machine and for operators that work row by row. Ours work on
columns, so what counts is rows in, rows out, and what is kept; a fixed cost of every tick comes on
top, which is not part of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Steps:
    """One kind of operator: nanoseconds per row that arrives, per key that was not there, per pair
    that a join looks at and per row put out; bytes per row and per key that is kept, besides
    their columns."""

    arrive: float = 0.0
    key: float = 0.0
    compare: float = 0.0
    emit: float = 0.0
    row_bytes: float = 0.0
    key_bytes: float = 0.0


Constants = Mapping[str, Steps]
"""Steps by kind of operator."""

MEASURED: Constants = {
    "filter": Steps(arrive=34),
    "project": Steps(arrive=33),
    "time window": Steps(arrive=4),
    "count window": Steps(arrive=376, row_bytes=41, key_bytes=80),
    "granularity": Steps(arrive=5, emit=5),
    "split": Steps(arrive=50, emit=16, row_bytes=16),
    "changes": Steps(emit=229, row_bytes=60),
    "union": Steps(),
    "distinct": Steps(arrive=65, key=71, emit=65, key_bytes=37),
    "coalesce": Steps(arrive=45, row_bytes=37),
    "aggregate": Steps(arrive=86, key=106, emit=16, row_bytes=6, key_bytes=38),
    "total": Steps(arrive=25, key=5, emit=12, row_bytes=7, key_bytes=19),
    "extreme": Steps(arrive=52, key=56, emit=9, row_bytes=2, key_bytes=43),
    "top-k": Steps(arrive=502, row_bytes=96),
    "eaa": Steps(arrive=1600, row_bytes=150),
    "sla": Steps(arrive=1000, row_bytes=300),
    "approximate": Steps(arrive=1300, row_bytes=150),
    "join": Steps(arrive=233, compare=83, row_bytes=24),
    "semi-join": Steps(arrive=231, emit=79, row_bytes=33, key_bytes=1),
    "anti-join": Steps(arrive=421, compare=329, row_bytes=25, key_bytes=27),
    "difference": Steps(arrive=378, row_bytes=71),
}
"""November 2026: two cores of a virtual machine on a current server, shared with other work, one
thread for every operator. The model is within a factor of two of every run it was fitted to."""
