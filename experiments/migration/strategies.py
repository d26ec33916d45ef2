"""Ways to go from one plan of a join to another while it runs, tick by tick."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from experiments.migration.boxes import LATER, NEW, OLD, STREAMS, intervals, tracked
from tidemill.physical.operator import Exec, empty_batch, ends
from tidemill.physical.operators.fuse import FuseExec
from tidemill.physical.operators.migrating import MigratingExec
from tidemill.physical.operators.reference_point import ReferencePointExec
from tidemill.physical.operators.source import SourceExec
from tidemill.runtime.operators import Arrival, Graph


@dataclass(frozen=True)
class Setting:
    """Streams of so many rows, in instants of a millisecond; a tick is `tick` instants."""

    rows: int = 5000
    rate: int = 100
    window: int = 10_000
    start: int = 20_000
    tick: int = 250

    @property
    def apart(self) -> int:
        return 1000 // self.rate

    @property
    def end(self) -> int:
        return self.rows * self.apart

    def values(self, seed: int) -> dict[str, list[int]]:
        """Even random numbers: up to 500 in A and B, up to 1000 in C and D."""
        random = np.random.default_rng(seed)
        most = dict(zip(STREAMS, (500, 500, 1000, 1000), strict=True))
        return {n: random.integers(0, top + 1, self.rows).tolist() for n, top in most.items()}


@dataclass
class Measured:
    """After every tick: its time, results so far, rows kept and bytes, and seconds spent so far."""

    times: list[int] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    nbytes: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    ended: int | None = None


class Strategy(ABC):
    """A graph that begins with the old plan and ends with the new one."""

    def __init__(self, setting: Setting, values: dict[str, list[int]]) -> None:
        self.setting = setting
        self.values = values
        self.graph = Graph(self.first)
        self.ended: int | None = None

    @property
    @abstractmethod
    def first(self) -> Exec:
        """The old plan."""

    @abstractmethod
    def begin(self, now: int) -> None:
        """Start the migration."""

    @abstractmethod
    def take(self, found: list[Arrival], now: int) -> int:
        """Results that come out of what a tick has found; go on with the migration."""

    @property
    def buffered(self) -> int:
        """Results that are held back."""
        return 0

    def run(self) -> Measured:
        """All ticks."""
        measured, total, began = Measured(), 0, time.process_time()
        for now in range(self.setting.tick, self.setting.end + 1, self.setting.tick):
            found = self.graph.step([self._arrival(leaf, now) for leaf in self.graph.leaves])
            total += self.take(found, now)
            if now == self.setting.start:
                self.begin(now)
            measured.times.append(now)
            measured.results.append(total)
            kept = sum(part.state_rows for part in self.graph.progress)
            measured.kept.append(kept + self.buffered)
            measured.nbytes.append(sum(part.state_bytes for part in self.graph.progress))
            measured.seconds.append(time.process_time() - began)
        measured.ended = self.ended
        return measured

    def _arrival(self, leaf: Exec, now: int) -> Arrival:
        assert isinstance(leaf, SourceExec)
        name, apart = leaf.scan.source.rstrip(LATER), self.setting.apart
        numbers = range((now - self.setting.tick) // apart, now // apart)
        times = [number * apart for number in numbers]
        columns: dict[str, list[object]] = {
            f"{name}.k": [self.values[name][number] for number in numbers],
            f"{name}.ts": list(times),
            f"{name}.old": [at < self.setting.start for at in times],
            "valid_from": list(times),
            "valid_to": [at + 1 for at in times],
        }
        schema = empty_batch(leaf.schema).schema
        return pl.DataFrame({n: columns[n] for n in schema}, schema=schema), now


class GenMig(Strategy):
    """Both plans until the split; then what one says before and the other from then on."""

    node: type[MigratingExec] = FuseExec

    @property
    def first(self) -> Exec:
        return intervals(OLD, self.setting.window)

    def begin(self, now: int) -> None:
        self._new = intervals(NEW, self.setting.window)
        self._split = now - self.setting.apart + self.setting.window
        self.graph.revise([self.node(self.first, self._new, self._split)])

    def take(self, found: list[Arrival], now: int) -> int:
        if now > self.setting.start and self.ended is None and now >= self._split:
            self.graph.revise([self._new])
            self.ended = now
        return sum(rows.height for rows, _ in found)


class Staying(GenMig):
    """The old plan to the end."""

    def begin(self, now: int) -> None:
        self.ended = now


class ReferencePoint(GenMig):
    """As above, but rows belong to the plan that answers where they start."""

    node = ReferencePointExec


class ParallelTrack(Strategy):
    """Both plans until the old one has no old row; then what the new one gave comes out at once."""

    def __init__(self, setting: Setting, values: dict[str, list[int]]) -> None:
        self._old = tracked(OLD, setting.window)
        self._last = 0
        self._held = 0
        super().__init__(setting, values)

    @property
    def first(self) -> Exec:
        return self._old.root

    @property
    def buffered(self) -> int:
        return self._held

    def begin(self, now: int) -> None:
        self._new = tracked(NEW, self.setting.window, LATER)
        # Rows that came just before are kept for a window; what they become part of, longer.
        self._last = now - self.setting.apart + self.setting.window
        self.graph.revise([self._old.root, self._new.root, *self._old.kept])

    def take(self, found: list[Arrival], now: int) -> int:
        if now <= self.setting.start or self.ended is not None:
            return found[0][0].height
        (old, _), (new, _), *kept = found
        for rows, _ in kept:
            marks = [name for name in rows.columns if name.endswith(".old")]
            is_old = rows[marks[0]].to_numpy()
            self._last = max(self._last, int(ends(rows)[is_old].max(initial=0)))
        self._held += new.height
        came = int(old[next(n for n in old.columns if n.endswith(".old"))].sum())
        if now >= self._last:
            self.graph.revise([self._new.root])
            self.ended, held, self._held = now, self._held, 0
            return came + held
        return came
