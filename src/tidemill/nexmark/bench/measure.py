"""What is measured, and how: seconds, memory of all processes, and answers."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

SAME = "same question"
_PAUSE = 0.2


@dataclass(frozen=True)
class Setting:
    """What every system runs with: the data, and how many things it may do at once."""

    data: Path
    cores: int = 2


@dataclass(frozen=True)
class Outcome:
    """One query in one system. `question` tells whether it is the same one, or what is left out."""

    query: str
    system: str
    events: int
    seconds: float
    memory: int
    question: str = SAME
    phases: Mapping[str, float] = field(default_factory=dict)
    agrees: bool | None = None

    @property
    def events_per_second(self) -> float:
        return self.events / self.seconds


@dataclass(frozen=True)
class Question:
    """How a system is asked: the query in its own words, and what that leaves out."""

    asks: str
    leaves_out: str = SAME


class Peak:
    """The largest memory that this process and all below it had at the same time."""

    def __init__(self) -> None:
        self.bytes = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def __exit__(self, *reason: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.is_set():
            self.bytes = max(self.bytes, resident(os.getpid()))
            self._ended.wait(_PAUSE)


def resident(root: int) -> int:
    """Bytes of memory of a process and of all its descendants; 0 where there is no /proc."""
    parents, sizes = {}, {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        parents[int(entry.name)] = int(fields[1])
        sizes[int(entry.name)] = int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    return sum(size for pid, size in sizes.items() if _descends(pid, root, parents))


def _descends(pid: int, root: int, parents: Mapping[int, int]) -> bool:
    while pid in parents and pid != root:
        pid = parents[pid]
    return pid == root


@contextmanager
def watched() -> Iterator[Callable[[], tuple[float, int]]]:
    """Time and memory of a block, to be asked for after it."""
    began = time.perf_counter()
    end = [began]
    with Peak() as peak:
        yield lambda: (end[0] - began, peak.bytes)
        end[0] = time.perf_counter()


def same_rows(left: pl.DataFrame, right: pl.DataFrame) -> bool:
    """Whether two answers have the same rows, as often, in whatever order; to a millionth."""
    return _canonical(left).equals(_canonical(right))


def _canonical(frame: pl.DataFrame) -> pl.DataFrame:
    plain = frame.select(
        pl.nth(number).cast(pl.Float64).round(6).alias(f"c{number}")
        for number in range(frame.width)
    )
    return plain.sort(plain.columns)
