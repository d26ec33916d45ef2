"""How far a run has come, asked for from other threads while it makes ticks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from threading import Event, Thread
from typing import Any

import pyarrow as pa
import pytest

import tidemill as tm
from tests.fabrics.answers import query_of
from tidemill.engine.started import StartedQuery
from tidemill.runtime.progress import Progress
from tidemill.runtime.run import Run
from tidemill.runtime.sources import OpenStream

COUNT = "SELECT k, COUNT(*) AS n FROM {} WINDOW(RANGE MIN 2, MAX 4) GROUP BY k"
ROWS = 5
"""So many rows come with every tick."""


class House:
    """A graph with one query that is looked at; others come and go."""

    def __init__(self) -> None:
        self.engine = tm.Engine("inprocess", partitions=2)
        for name in "abcdef":
            self.engine.stream(name, pa.schema({"k": pa.int64(), "at": pa.int64()}), time="at")
        self.graph = self.engine.run(every=None)
        self.query = self.start("a", self._during)
        self.during: list[tuple[int, Progress]] = []
        self.now = 0

    def start(self, source: str, sink: Any = "memory") -> StartedQuery:
        started = query_of(self.engine, COUNT.format(source)).start(sink, name=f"of {source}")
        assert isinstance(started, StartedQuery)
        return started

    def tick(self) -> None:
        self.engine.push("a", [{"k": number, "at": self.now} for number in range(ROWS)])
        self.graph.tick()
        self.now += 1

    def _during(self, rows: object, tick: int) -> None:
        """While a tick is made, another thread looks at it."""
        look = Thread(target=lambda: self.during.append((tick, self.query.progress)))
        look.start()
        look.join(10)


@pytest.fixture
def house() -> Iterator[House]:
    house = House()
    yield house
    house.engine.close()


def check(progress: Progress) -> None:
    """All of it is from the same tick."""
    assert progress.sources["a"].rows == ROWS * progress.ticks
    assert progress.rows_in == ROWS * progress.ticks


def test_nobody_waits_for_a_tick(house: House) -> None:
    for _ in range(4):
        house.tick()
    assert house.during
    for tick, look in house.during:
        assert look.ticks == tick
        check(look)


def test_what_a_tick_did_is_seen_at_once(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Progress] = []
    threads: list[Thread] = []
    took = OpenStream.took

    def looked_at(stream: OpenStream, *what: Any) -> None:
        took(stream, *what)
        threads.append(Thread(target=lambda: looks.append(house.query.progress)))
        threads[-1].start()
        threads[-1].join(0.02)  # it may have to wait for the rest

    monkeypatch.setattr(OpenStream, "took", looked_at)
    house.tick()
    for thread in threads:
        thread.join()
    assert looks
    for look in looks:
        check(look)


def test_a_query_that_is_stopped_meanwhile(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.tick()
    progress_of = Run.progress_of

    def stopped(run: Run, query: str) -> Progress:
        monkeypatch.undo()
        house.query.stop()
        return progress_of(run, query)

    monkeypatch.setattr(Run, "progress_of", stopped)
    assert house.query.progress.ticks == 1


def test_looks_while_queries_come_and_go(house: House) -> None:
    looks: list[Progress] = []
    errors: list[Exception] = []
    over = Event()

    def look() -> None:
        while not over.is_set():
            try:
                looks.append(house.query.progress)
                dict(looks[-1].phases)
                assert house.graph.sources
            except Exception as error:
                errors.append(error)

    reader, before = Thread(target=look), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        reader.start()
        for source in 3 * "bcdef":
            other = house.start(source)
            house.tick()
            other.stop()
    finally:
        over.set()
        reader.join()
        sys.setswitchinterval(before)
    assert not errors, errors[0]
    for each in looks:
        check(each)
