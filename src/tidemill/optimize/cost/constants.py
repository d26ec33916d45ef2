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
    """One kind of operator: nanoseconds per row that arrives, per pair that a join looks at and
    per row put out; bytes per row and per key that is kept, besides their columns."""

    arrive: float = 0.0
    compare: float = 0.0
    emit: float = 0.0
    row_bytes: float = 0.0
    key_bytes: float = 0.0


Constants = Mapping[str, Steps]
"""Steps by kind of operator."""

MEASURED: Constants = {}
