"""A graph under a bound of memory, while its streams burst; see `run`."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from random import Random

import pyarrow as pa

import tidemill as tm
from experiments.adapting.mix import MINUTE, Mix
from tests.soak.oracle import answer, given, windows_of

TICK = 5_000
"""Milliseconds of the streams per tick."""

DELAY = 2 * MINUTE
"""Answers are looked at when so much more time has passed: open ones are given in the end."""


@dataclass(frozen=True)
class Setting:
    """How many queries, the memory that they may use, and how many answers are looked at."""

    queries: int = 60
    memory: str = "2MB"
    mix: Mix = field(
        default_factory=lambda: Mix(streams=12, rates=(10, 120), minutes=(0.2, 5), seed=7)
    )
    burst: float = 2.0
    sampled: int = 6


@dataclass
class Report:
    """What came of it."""

    bound: float
    ticks: int = 0
    most: int = 0
    changes: int = 0
    bursts: int = 0
    checked: int = 0
    late: int = 0
    refused: int = 0

    def __str__(self) -> str:
        return (
            f"{self.ticks} ticks, {self.bursts} with bursts; at most {self.most / self.bound:.0%} "
            f"of the memory; {self.changes} changes of sizes, {self.checked} answers exact, "
            f"{self.late} rows dropped, {self.refused} queries refused"
        )


class BoundBrokenError(AssertionError):
    """The graph kept more than it may."""


class Soak:
    """One run. Every tick is checked for memory; every now and then, answers are looked at."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._random = Random(1)
        self.engine = tm.Engine(
            runtime="inprocess", optimizer=["order_joins"], memory=setting.memory
        )
        setting.mix.declare(self.engine)
        self.graph = self.engine.run()
        assert self.graph.manager is not None
        self.report = Report(self.graph.manager.bound.memory)
        self._texts: dict[str, str] = {}
        self._results: dict[str, deque[pa.Table]] = {}
        self._rows: dict[str, deque[pa.Table]] = {n: deque() for n in setting.mix.names}
        self._now = 0
        self._factor = 1.0
        self._start()

    def _start(self) -> None:
        with self.graph.together():
            for number, text in enumerate(self._setting.mix.queries(self._setting.queries)):
                self._add(f"q{number}", text)

    def _add(self, name: str, text: str) -> None:
        results: deque[pa.Table] = deque()
        sampled = len(self._results) < self._setting.sampled
        query = self.engine.sql(text)
        assert query is not None
        keep = results.append if sampled else lambda rows: None
        try:
            query.start(lambda rows, tick: keep(rows), name=name)
        except tm.TidemillError:
            self.report.refused += 1
            return
        if sampled:
            self._texts[name], self._results[name] = text, results

    def tick(self) -> None:
        """Let time pass; bursts come and go at random."""
        if self._now % MINUTE == 0:
            self._factor = self._setting.burst if self._random.random() < 0.2 else 1.0
        begin, self._now = self._now, self._now + TICK
        for name, rows in self._setting.mix.tables(begin, self._now, self._factor).items():
            self.engine.push(name, rows)
            self._rows[name].append(rows)
        before = self.graph.adaptation.sizes
        self.graph.tick()
        for name in self.graph.sources:
            self.graph.heartbeat(name, self._now)
        after = self.graph.adaptation.sizes
        self.report.changes += sum(before[knob] != after[knob] for knob in before)
        self._measure()

    def _measure(self) -> None:
        report = self.report
        report.ticks += 1
        report.bursts += self._factor > 1
        nodes = self.graph.operators.values()
        kept = sum(progress.state_bytes for progress in nodes)
        report.most = max(report.most, kept)
        report.late = sum(source.late_rows for source in self.graph.sources.values())
        if kept > report.bound:
            raise BoundBrokenError(
                f"{kept} bytes after {report.ticks} ticks, of {report.bound:.0f}: {report}"
            )

    def check(self) -> None:
        """Compare the answers of some queries with those at the sizes in force."""
        at = (self._now - DELAY) // 10_000 * 10_000
        rows = {name: pa.concat_tables(tables) for name, tables in self._rows.items()}
        for name, text in self._texts.items():
            query = self.graph.query(name)
            windows = windows_of(self.graph.members[name].job.plan)
            expected = answer(text, windows, query.progress.sizes, rows, at)  # type: ignore[arg-type]
            found = given(self._results[name], at)
            assert found == expected, f"{name} at {at}: {found - expected} {expected - found}"
            self.report.checked += 1
        self._forget(at)

    def _forget(self, at: int) -> None:
        """Rows and results that end before an instant are no longer needed."""
        longest = round(self._setting.mix.minutes[1] * MINUTE) + MINUTE
        for tables in self._rows.values():
            while len(tables) * TICK > self._now - at + longest:
                tables.popleft()
        for results in self._results.values():
            while results and max(results[0]["valid_to"].to_pylist(), default=0) < at:
                results.popleft()


def run(seconds: float, setting: Setting | None = None, look_every: int = 60) -> Report:
    """Run for so long on the clock; fails if the bound is broken, or an answer is not exact."""
    soak = Soak(setting or Setting())
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        soak.tick()
        if soak.report.ticks % look_every == 0:
            soak.check()
            print(soak.report, flush=True)
    return soak.report
