"""One run of the benchmark: every query in every system, one after the other, on one machine."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from benchmarks.auction.data import Data
from benchmarks.auction.measure import Form, Outcome
from benchmarks.auction.runner import Runner
from benchmarks.auction.systems import FLOOR, TIDEMILL, System
from tidemill.nexmark.generate import BIDS_PER_AUCTION, Size
from tidemill.nexmark.queries import BenchmarkQuery

_LITTLE_BIDS = 20_000
_LITTLE_FILES = 2


@dataclass(frozen=True)
class Plan:
    """What to run: how much data, which queries, against whom, with answers compared or not."""

    events: int
    queries: Sequence[BenchmarkQuery]
    peers: Sequence[System]
    folder: Path
    compare: bool = True
    fewest_ticks: int = 4

    @property
    def size(self) -> Size:
        """Of ten bids, an auction's opening and its end, and a tenth of a person."""
        return Size(max(1, int(self.events / (1 + 2.1 / BIDS_PER_AUCTION))))

    @property
    def data(self) -> Data:
        """In ticks of about two million bids, but in some ticks in any case."""
        files = min(20, max(self.fewest_ticks, self.size.bids // 2_000_000))
        return Data(self.folder, self.size, files)

    @property
    def little(self) -> Data:
        """What systems are warmed up with, and answers compared on."""
        return Data(self.folder, Size(min(_LITTLE_BIDS, self.size.bids)), _LITTLE_FILES)


def compare_systems(plan: Plan, runner: Runner) -> Iterator[Outcome]:
    """Every query in Tidemill, on the floor, and in the peers."""
    runner.prepare(plan.little, plan.data)
    for query in plan.queries:
        with tempfile.TemporaryDirectory(prefix="tidemill-bench-") as folder:
            answers = _Answers(runner, plan.little, Path(folder))
            for system in (TIDEMILL, FLOOR, *plan.peers):
                if not system.forms(query.name):
                    yield Outcome(query.name, system.name, "", missing=system.no_form[query.name])
                for form in system.forms(query.name):
                    agrees = answers.compared(system, form) if plan.compare else None
                    outcome = runner.measure(system, form, query, plan.data, plan.little)
                    yield replace(outcome, agrees=agrees)


@dataclass
class _Answers:
    """The answers of all systems to a query, against Tidemill's, which comes first."""

    runner: Runner
    data: Data
    folder: Path
    ours: pl.DataFrame | None = None

    def compared(self, system: System, form: Form) -> bool | None:
        rows = self.runner.answer(system, form, self.data, self.folder / form.system)
        if system is TIDEMILL:
            self.ours = rows
            return None
        if rows is None or self.ours is None:
            return None
        if rows.is_empty():
            # It gives answers when time has passed, and on so little data it has not.
            self.runner.note("there is no answer yet to compare")
            return None
        agrees = system.agrees(form.name, self.ours, rows)
        self.runner.note(f"the answers {'agree' if agrees else 'DIFFER'}")
        return agrees
