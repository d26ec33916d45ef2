"""What is measured, and how: seconds, memory of all processes, and answers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from tidemill.nexmark.bench.processes import Peak

SAME = "same question"


@dataclass(frozen=True)
class Setting:
    """What every system runs with: the data, and how many things it may do at once."""

    data: Path
    cores: int = 2


@dataclass
class Spent:
    """What a block took; complete when it has ended."""

    seconds: float = 0.0
    memory: int = 0
    cpu: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """One query in one system. `question` tells whether it is the same one, or what is left out."""

    query: str
    system: str
    events: int
    spent: Spent
    question: str = SAME
    phases: Mapping[str, float] = field(default_factory=dict)
    agrees: bool | None = None

    @property
    def events_per_second(self) -> float:
        return self.events / self.spent.seconds


@contextmanager
def watched() -> Iterator[Spent]:
    """Measure a block."""
    spent = Spent()
    with Peak() as peak:
        began = time.perf_counter()
        yield spent
        spent.seconds = time.perf_counter() - began
    spent.memory, spent.cpu = peak.memory, peak.cpu


def same_rows(left: pl.DataFrame, right: pl.DataFrame) -> bool:
    """Whether two answers have the same rows, as often, in whatever order; to a millionth."""
    return _canonical(left).equals(_canonical(right))


def _canonical(frame: pl.DataFrame) -> pl.DataFrame:
    plain = frame.select(
        pl.nth(number).cast(pl.Float64).round(6).alias(f"c{number}")
        for number in range(frame.width)
    )
    return plain.sort(plain.columns)
