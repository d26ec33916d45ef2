"""Every migration ends, whatever else runs, changes and ends beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Any

import polars as pl
import pytest

from tests.checking.changes import from_changes
from tests.graph.test_migration import WINDOW, House
from tidemill.engine.started import StartedQuery
from tidemill.errors import TidemillError
from tidemill.graph.migration import Phase
from tidemill.testing import elements, snapshot_at
from tidemill.testing.snapshots import Element

FORMS = ("intervals", "live", "changes", "snapshot")
COUNT, SUM, MAX = (
    f"SELECT k, {what} AS n FROM a WINDOW(RANGE 10) GROUP BY k"
    for what in ("COUNT(*)", "SUM(v)", "MAX(v)")
)
QUESTIONS = (
    COUNT,
    SUM,
    f"SELECT k, n FROM ({COUNT}) WHERE n > 1",
    f"SELECT k, n FROM ({SUM}) WHERE n > 1",
    f"SELECT DISTINCT k, n FROM ({COUNT})",
    f"SELECT k, n + 1 AS n FROM ({SUM}) UNION ALL SELECT k, n FROM ({COUNT})",
    "SELECT DISTINCT k, v AS n FROM a WINDOW(RANGE 6)",
    "SELECT a.k, b.v AS n FROM a WINDOW(RANGE 10), b WINDOW(RANGE 5) WHERE a.k = b.k",
    "SELECT k, v AS n FROM a WINDOW(RANGE 7) WHERE v > 3",
    f"SELECT k, n FROM ({MAX}) ORDER BY n DESC LIMIT 2",
)


@dataclass
class Asked:
    """A query, and what it has asked for from which instant on."""

    started: StartedQuery
    form: str
    since: int
    asked: list[tuple[int, str]] = field(default_factory=list)
    is_gone: bool = False

    def rows(self) -> list[Element]:
        found = self.started.results()
        if self.form != "changes":
            return elements(found)
        return elements(from_changes(pl.DataFrame(found)).to_arrow())

    def question(self, at: int) -> str:
        return [sql for since, sql in self.asked if since <= at][-1]


class Lives:
    """Queries of any forms that come, change and go."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.house = House()
        self.queries: list[Asked] = []
        self.story: list[str] = []
        self._alone: dict[str, list[Element]] = {}

    def add(self) -> None:
        sql, form = self.random.choice(QUESTIONS), self.random.choice(FORMS)
        name = f"q{len(self.queries)}"
        started = self.house.start(sql, name, form=form)
        found = Asked(started, form, started.complete_from, [(0, sql)])
        self.queries.append(found)
        self.story.append(f"{self.house.now}: {name} as {form}: {sql}")

    def alter(self) -> None:
        running = self._running
        if running:
            self._alter(self.random.choice(running), self.random.choice(QUESTIONS))

    def _alter(self, query: Asked, sql: str) -> None:
        self.story.append(f"{self.house.now}: alter {query.started.name}: {sql}")
        known = query.started.migration
        if known is not None and known.is_running:
            with pytest.raises(TidemillError, match="is migrating"):
                query.started.migrate(sql)
            return
        migration = query.started.migrate(sql)
        # Where the plan is the same, it holds from the beginning.
        query.asked.append((max(migration.split, query.asked[-1][0]), sql))

    def stop(self) -> None:
        running = self._running
        if running:
            chosen = self.random.choice(running)
            self.story.append(f"{self.house.now}: stop {chosen.started.name}")
            chosen.started.stop()
            chosen.is_gone = True

    def live(self) -> None:
        for _ in range(self.random.randint(10, 40)):
            kinds = [self.add, self.alter, self.alter, self.stop]
            weights = [2, 2, 2, 0.5]
            for each in self.random.choices(kinds, weights, k=self.random.choice([0, 1, 1, 3])):
                each()
            self.house.tick()

    def end(self) -> None:
        """Let enough time pass for every migration."""
        self.house.tick(3 * WINDOW)
        for each in self.queries:
            migration = each.started.migration
            assert migration is None or not migration.is_running, each.started.name

    def check(self) -> None:
        """Answers are those of what was asked, each from its split on."""
        last = self.house.now - 2
        for each in self._running:
            if each.form == "snapshot":
                now = [(row["k"], row["n"]) for row in each.started.results().to_pylist()]
                self._check(each, range(last, last + 1), [(row, last, last + 1) for row in now])
        for name in {name for each in self._running for name in each.started.depends_on}:
            self.house.graph.heartbeat(name, 1000)
        self.house.graph.tick()
        for each in self._running:
            if each.form != "snapshot":
                self._check(each, range(each.since, last), each.rows())

    def _check(self, query: Asked, instants: range, found: list[Element]) -> None:
        for at in instants:
            assert snapshot_at(found, at) == self._expected(query.question(at), at), (
                f"{query.started.name} at {at}"
            )

    def _expected(self, sql: str, at: int) -> Any:
        if sql not in self._alone:
            self._alone[sql] = elements(self.house.alone(sql, self.house.now).collect())
        return snapshot_at(self._alone[sql], at)

    @property
    def _running(self) -> list[Asked]:
        return [each for each in self.queries if not each.is_gone]


def check_seed(seed: int) -> None:
    """Live the life of a seed."""
    lives = Lives(seed)
    try:
        lives.live()
        lives.end()
        lives.check()
    except AssertionError as error:
        raise AssertionError("\n".join([str(error), *lives.story])) from error


@pytest.mark.parametrize("block", range(4))
def test_random_lives(block: int) -> None:
    for seed in range(block, 40, 4):
        check_seed(seed)


@pytest.mark.parametrize(("one", "other"), list(product(FORMS, FORMS)))
def test_queries_that_share_are_altered_twice(one: str, other: str) -> None:
    """The first alone, then both at once; the other shares what either comes from."""
    lives = Lives(0)
    for form in (one, other):
        started = lives.house.start(COUNT, f"q{len(lives.queries)}", form=form)
        lives.queries.append(Asked(started, form, started.complete_from, [(0, COUNT)]))
        lives.house.tick(5)
    lives._alter(lives.queries[0], SUM)
    lives.end()
    for query, sql in zip(lives.queries, (COUNT, MAX), strict=True):
        lives._alter(query, sql)
    lives.end()
    lives.check()
    assert [len(each.asked) for each in lives.queries] == [3, 2]


def test_equal_queries_are_altered_at_once() -> None:
    """They share the place where the new plan takes over, and what stands above it."""
    for form in FORMS:
        lives = Lives(0)
        lives.house.tick(3)
        for name in ("q0", "q1", "q2"):
            started = lives.house.start(COUNT, name, form=form)
            lives.queries.append(Asked(started, form, started.complete_from, [(0, COUNT)]))
        lives.house.tick(15)
        for query in lives.queries[:2]:
            lives._alter(query, SUM)
        lives.end()
        lives.check()


def test_what_was_made_eager_is_lazy_again() -> None:
    """Two migrations wait for one part; the last that ends lets its results be open again."""
    house = House()
    for name in ("kept", "one", "two"):
        house.start(SUM if name == "kept" else COUNT, name)
    house.tick(15)
    first = house.graph.query("one").migrate(SUM)
    house.tick(3)
    second = house.graph.query("two").migrate(SUM)
    house.tick(30)
    assert (first.phase, second.phase) == (Phase.DONE, Phase.DONE)
    eager = [getattr(node, "eager", 0) for node in house.graph.operators]
    assert not any(eager)
