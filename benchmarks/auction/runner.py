"""Measure a query in a system: start its process, warm it up, run, and see what it took."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from benchmarks.auction.data import Data
from benchmarks.auction.measure import Form, Outcome
from benchmarks.auction.systems import TIDEMILL, System
from benchmarks.auction.worker import Reply, Request, Worker, WorkerFailed
from tidemill.nexmark.queries import BenchmarkQuery


@dataclass(frozen=True)
class Case:
    """How a query runs, if not as usual: larger windows, more events, other partitions."""

    name: str = ""
    window: int = 1
    events: int = 1
    partitions: int | None = None
    master: str = "local"


USUAL = Case()
Note = Callable[[str], None]


@dataclass
class Runner:
    """Runs queries one after the other; `note` is told of every step.

    With `fresh`, every query has a new process in every system, and so memory of its own; else
    a system starts only once. A system that takes longer than `limit` seconds is stopped.
    """

    cores: int = 2
    limit: float | None = None
    fresh: bool = True
    note: Note = lambda text: None
    _workers: dict[tuple[str, ...], Worker] = field(default_factory=dict)

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *reason: object) -> None:
        self.end()

    def end(self) -> None:
        """End the processes of all systems."""
        while self._workers:
            self._workers.popitem()[1].close()

    def prepare(self, *wanted: Data) -> None:
        """Generate what is not there yet."""
        for data in wanted:
            if not data.is_there:
                self.note(f"generating {data.size.bids:,} bids")
                data.generate(self._worker(TIDEMILL, Form(TIDEMILL.name, ""), USUAL))

    def measure(
        self,
        system: System,
        form: Form,
        query: BenchmarkQuery,
        data: Data,
        little: Data,
        case: Case = USUAL,
    ) -> Outcome:
        """Warm up and run; what fails or takes too long is an outcome too."""
        outcome = Outcome(query.name, form.system, form.question, case=case.name)
        label = " ".join(filter(None, (query.name, f"in {form.system}", case.name)))
        try:
            # Start-up is not measured: code is compiled, workers are there, in every system.
            self.note(f"{label}: warming up")
            self._ask(system.do, system, form, little, case)
            self.note(f"{label}: running")
            reply = self._ask(system.do, system, form, data, case, self.limit)
        except WorkerFailed as failure:
            self.note(f"{label}: failed: {failure.message}")
            return replace(outcome, missing=f"failed: {failure.message}")
        outcome = outcome.with_reply(reply, query.events(data.size))
        self.note(f"{label}: {outcome.summary}")
        return outcome

    def answer(self, system: System, form: Form, data: Data, file: Path) -> pl.DataFrame | None:
        """What a system answers, if it does."""
        if system.read_answer is None:
            return None
        self.note(f"the answer of {form.system} to {form.name}")
        case = Case(partitions=system.answer_slots)
        try:
            self._ask("answer", system, form, data, case, file=str(file))
        except WorkerFailed as failure:
            self.note(f"no answer: {failure.message}")
            return None
        return system.read_answer(file)

    def _ask(
        self,
        do: str,
        system: System,
        form: Form,
        data: Data,
        case: Case,
        limit: float | None = None,
        file: str = "",
    ) -> Reply:
        partitions = case.partitions or self.cores
        path = str(system.input(data.path, partitions).absolute())
        request = Request(do, form.name, path, partitions, case.master, case.window, file)
        try:
            reply = self._worker(system, form, case).ask(request, limit)
        except WorkerFailed:
            self.end()
            raise
        if reply.over:
            self.end()
        return reply

    def _worker(self, system: System, form: Form, case: Case) -> Worker:
        key: tuple[str, ...] = (system.target, case.master)
        if self.fresh:
            key = (*key, form.name, case.name)
        if key not in self._workers:
            if self.fresh:
                self.end()
            self._workers[key] = Worker(system.target, self.cores, system.python())
        return self._workers[key]
