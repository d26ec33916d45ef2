"""Queries that go on with other plans while they run."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import tidemill as tm
from tests.golden.loader import cases
from tests.graph.migrating import check_migrations
from tests.random.cases import plan_case
from tidemill.engine.running import RunningGraph
from tidemill.engine.started import StartedQuery
from tidemill.errors import TidemillError
from tidemill.graph.migration import Migration, Phase, hand_overs
from tidemill.physical.lowering import lower
from tidemill.physical.operators.fuse import FuseExec
from tidemill.physical.operators.reference_point import ReferencePointExec
from tidemill.runtime.progress import MigrationProgress
from tidemill.testing import elements, snapshot_at

COLUMNS = pa.schema({"k": pa.int64(), "v": pa.int64(), "at": pa.int64()})
WINDOW = 10

JOIN = """SELECT {hint} a.v AS x, b.v AS y, c.v AS z, d.v AS u
    FROM a WINDOW(RANGE 10), b WINDOW(RANGE 10), c WINDOW(RANGE 10), d WINDOW(RANGE 10)
    WHERE a.k = b.k AND b.k = c.k AND c.k = d.k"""
TOTAL = "SELECT k, {what} AS n FROM a WINDOW(RANGE 10) GROUP BY k"
PAIRS = """SELECT {hint} a.k, COUNT(*) AS n FROM a WINDOW(RANGE 10), b WINDOW(RANGE 10)
    WHERE a.k = b.k GROUP BY a.k"""

OUTER = """SELECT {hint} a.k, COUNT(*) AS n, SUM(b.v / 7) AS s, AVG(a.v * 0.1D) AS m
    FROM (SELECT k, v FROM a) AS a WINDOW(RANGE 10)
    LEFT JOIN (SELECT k + 1 AS k, v FROM b) AS b WINDOW(RANGE 10) ON a.k = b.k GROUP BY a.k"""


class House:
    """An engine with four streams, a row of each per tick, and what came in every tick."""

    def __init__(self, checkpoint: str | None = None) -> None:
        self.engine = tm.Engine("inprocess")
        for name in "abcd":
            self.engine.stream(name, COLUMNS, time="at")
        self.graph: RunningGraph = self.engine.run(checkpoint=checkpoint, every=None)
        self.now = 0

    def start(self, sql: str, name: str = "q", **options: Any) -> StartedQuery:
        query = self.engine.sql(sql)
        assert query is not None
        query.start("memory", name=name, **options)
        return self.graph.query(name)

    def tick(self, ticks: int = 1) -> None:
        for _ in range(ticks):
            for number, name in enumerate("abcd"):
                row = {"k": self.now * (number + 1) % 3, "v": self.now, "at": self.now}
                self.engine.push(name, [row])
            self.graph.tick()
            self.now += 1

    def alone(self, sql: str, ticks: int) -> tm.Query:
        """The same query on its own, over all rows at once."""
        engine = tm.Engine("inprocess")
        for number, name in enumerate("abcd"):
            rows = [{"k": t * (number + 1) % 3, "v": t, "at": t} for t in range(ticks)]
            engine.stream(name, [pa.Table.from_pylist(rows, COLUMNS)], time="at")
        found = engine.sql(sql)
        assert found is not None
        return found

    def check(self, started: StartedQuery, sql: str, instants: range) -> None:
        """When all is known, answers are those of the query alone."""
        for name in started.depends_on:
            self.graph.heartbeat(name, 1000)
        self.graph.tick()
        found, wanted = elements(started.results()), elements(self.alone(sql, self.now).collect())
        for instant in instants:
            assert snapshot_at(found, instant) == snapshot_at(wanted, instant), instant


@pytest.mark.parametrize("seed", range(0, 40, 20))
def test_random_plans_follow_each_other(seed: int) -> None:
    """Snapshots are those of the reference, whatever plans follow each other at whatever tick."""
    found = [each for number in range(seed, seed + 20) for each in _checked(number)]
    assert any(hand_overs(each.handing_over) for each in found), "nothing was migrated"


def _checked(seed: int) -> list[Migration]:
    case = plan_case(Random(seed))
    return check_migrations(case.plan, case.inputs, seed)


@pytest.mark.parametrize("node", [FuseExec, ReferencePointExec])
def test_a_join_takes_one_window_and_no_tick_is_without_its_rows(node: type) -> None:
    """The rows of every tick are those without a migration: none is late, none is doubled."""
    house, other = House(), House()
    moving, still = house.start(JOIN.format(hint="")), other.start(JOIN.format(hint=""))
    for each in (house, other):
        each.tick(20)
    # As it is written, it is a tree of joins of two.
    tree = lower(moving.definition.planned.plan, {})
    migration = house.graph.migrations.start("q", tree, same_meaning=node is ReferencePointExec)
    assert migration.split == 20 - 1 + WINDOW
    assert {type(place) for place in hand_overs(migration.handing_over)} == {node}
    for _ in range(20):
        for each in (house, other):
            each.tick()
        assert Counter(elements(moving.results())) == Counter(elements(still.results()))
    assert migration.phase is Phase.DONE
    assert migration.ended == migration.split + 1


def test_aggregation_moves_below_the_join() -> None:
    house = House()
    started = house.start(PAIRS.format(hint="/*+ LATE */"))
    house.tick(20)
    early = house.engine.sql(PAIRS.format(hint="/*+ EARLY(a) */"))
    assert early is not None
    migration = started.migrate(early)
    assert hand_overs(migration.handing_over)
    house.tick(25)
    assert migration.phase is Phase.DONE
    house.check(started, PAIRS.format(hint=""), range(40))


def test_aggregation_moves_below_an_outer_join_and_goes_on_after_a_crash(tmp_path: Path) -> None:
    """The partial sums of doubles are in the state that is kept."""
    house = House(str(tmp_path))
    started = house.start(OUTER.format(hint="/*+ LATE */"))
    house.tick(15)
    migration = started.migrate(OUTER.format(hint="/*+ EARLY(a, b) */"))
    assert hand_overs(migration.handing_over)
    house.tick(12)
    assert migration.phase is Phase.DONE
    house.graph.stop()
    again = House(str(tmp_path))
    again.now = house.now
    started = again.start(OUTER.format(hint="/*+ EARLY(a, b) */"))
    again.tick(10)
    again.check(started, OUTER.format(hint="/*+ LATE */"), range(27, 37))
    again.graph.stop()


def test_orders_of_a_join_change_at_once_and_its_rows_stay() -> None:
    house = House()
    started = house.start(JOIN.format(hint="/*+ ORDER(a, b, c, d) */"))
    house.tick(20)
    migration = started.migrate(JOIN.format(hint="/*+ ORDER(d, c, b, a) */"))
    assert migration.phase is Phase.DONE
    house.tick(20)
    house.check(started, JOIN.format(hint=""), range(38))


def test_another_definition_holds_from_the_split_on() -> None:
    house = House()
    started = house.start(TOTAL.format(what="COUNT(*)"))
    house.tick(15)
    migration = started.migrate(TOTAL.format(what="SUM(v)"))
    assert migration.split == 15 - 1 + WINDOW
    assert f"split={migration.split}" in started.explain()
    assert "remaining: 10 instants" in started.explain()
    assert started.progress.migration == MigrationProgress(migration.split, 10, 14)
    house.tick(20)
    assert migration.phase is Phase.DONE
    assert "SUM(a.v)" in started.explain()
    assert started.progress.migration is None
    assert migration.ended is not None
    assert migration.ended <= migration.split + 2, "open results are cut a tick later at most"
    house.check(started, TOTAL.format(what="COUNT(*)"), range(migration.split))
    house.check(started, TOTAL.format(what="SUM(v)"), range(migration.split, 33))


def test_in_sql() -> None:
    house = House()
    house.engine.sql(f"CREATE QUERY q AS {TOTAL.format(what='COUNT(*)')}")
    house.engine.sql(f"ALTER QUERY q AS {TOTAL.format(what='MAX(v)')}")
    house.engine.sql("START QUERY q")
    house.tick(12)
    house.engine.sql(f"ALTER QUERY q AS {TOTAL.format(what='MIN(v)')}")
    started = house.graph.query("q")
    house.tick(20)
    assert started.migration is not None
    assert started.migration.phase is Phase.DONE
    house.check(started, TOTAL.format(what="MIN(v)"), range(started.migration.split, 30))
    house.engine.sql("ALTER QUERY q OPTIMIZE")
    with pytest.raises(TidemillError, match="has the columns k int64, n int64"):
        house.engine.sql(
            "ALTER QUERY q AS SELECT k, COUNT(*) AS m FROM a WINDOW(RANGE 5) GROUP BY k"
        )


@pytest.mark.parametrize("form", ["snapshot", "changes"])
def test_other_forms_of_results(form: str) -> None:
    house = House()
    started = house.start(TOTAL.format(what="COUNT(*)"), form=form)
    house.tick(15)
    migration = started.migrate(TOTAL.format(what="SUM(v)"))
    house.tick(20)
    assert migration.phase is Phase.DONE
    if form == "snapshot":
        alone = house.alone(TOTAL.format(what="SUM(v)"), house.now).snapshot(house.now - 2)
        now = started.results().select(["k", "n"]).to_pylist()
        assert sorted(now, key=str) == sorted(alone.to_pylist(), key=str)
        return
    told = [tuple(row.values()) for row in started.results().to_pylist()]
    for at in range(house.now - 1):
        what = "COUNT(*)" if at < migration.split else "SUM(v)"
        held: Counter[tuple[Any, ...]] = Counter()
        for *row, changed_at, change in told:
            held[tuple(row)] += (changed_at <= at) * (1 if change == "+" else -1)
        rows = house.alone(TOTAL.format(what=what), house.now).snapshot(at).to_pylist()
        expected = Counter(tuple(row.values()) for row in rows)
        assert {row: n for row, n in held.items() if n} == expected, at


def test_others_that_share_parts_go_on() -> None:
    house = House()
    one, two = (house.start(TOTAL.format(what="COUNT(*)"), name) for name in ("one", "two"))
    house.tick(15)
    first = one.migrate(TOTAL.format(what="SUM(v)"))
    house.tick(3)
    second = two.migrate(TOTAL.format(what="SUM(v)"))
    three = house.start(TOTAL.format(what="SUM(v)"), "three")
    house.tick(30)
    assert (first.phase, second.phase) == (Phase.DONE, Phase.DONE)
    house.check(one, TOTAL.format(what="COUNT(*)"), range(first.split))
    house.check(two, TOTAL.format(what="COUNT(*)"), range(second.split))
    house.check(one, TOTAL.format(what="SUM(v)"), range(first.split, 45))
    house.check(two, TOTAL.format(what="SUM(v)"), range(second.split, 45))
    house.check(three, TOTAL.format(what="SUM(v)"), range(three.complete_from, 45))


def test_one_at_a_time() -> None:
    house = House()
    started = house.start(TOTAL.format(what="COUNT(*)"))
    house.tick(15)
    migration = started.migrate(TOTAL.format(what="SUM(v)"))
    with pytest.raises(TidemillError, match=f"to another plan until {migration.split}"):
        started.migrate(TOTAL.format(what="MIN(v)"))
    started.stop()
    house.tick(2)
    assert migration.phase is Phase.CANCELLED
    assert len(house.graph.operators) == 0
    with pytest.raises(TidemillError, match="not running"):
        started.migrate(TOTAL.format(what="MIN(v)"))


def test_what_remembers_for_ever_is_refused() -> None:
    house = House()
    started = house.start("SELECT k, COUNT(*) AS n FROM a WINDOW(ROWS 3) GROUP BY k")
    house.tick(5)
    with pytest.raises(TidemillError, match="it needs rows that came before"):
        started.migrate("SELECT k, COUNT(*) AS n FROM a WINDOW(ROWS 4) GROUP BY k")


def test_a_window_over_rows_that_both_plans_have_goes_on() -> None:
    """It is not new, so nothing is missing of what it says from now on."""
    house = House()
    sql = """SELECT {hint} a.v AS x, b.v AS y FROM a WINDOW(ROWS 3), b WINDOW(RANGE 4),
        c WINDOW(RANGE 5) WHERE a.k = b.k AND a.k = c.k"""
    started = house.start(sql.format(hint="/*+ ORDER(a, b, c) */"))
    house.tick(9)
    migration = started.migrate(sql.format(hint="/*+ ORDER(c, b, a) */"))
    assert migration.phase is Phase.DONE
    house.tick(9)
    house.check(started, sql.format(hint=""), range(25))


def test_before_any_row_has_come_the_new_plan_begins_at_once() -> None:
    house = House()
    started = house.start(TOTAL.format(what="COUNT(*)"))
    migration = started.migrate(TOTAL.format(what="SUM(v)"))
    house.tick(20)
    assert migration.phase is Phase.DONE
    assert migration.split == 0
    house.check(started, TOTAL.format(what="SUM(v)"), range(18))


def test_idle_streams_only_delay_it() -> None:
    house = House()
    started = house.start(TOTAL.format(what="COUNT(*)"))
    house.tick(15)
    migration = started.migrate(TOTAL.format(what="SUM(v)"))
    house.graph.tick(5)
    assert migration.is_running
    house.graph.heartbeat("a", 100)
    house.graph.tick(3)
    assert migration.phase is Phase.DONE


def test_it_goes_on_after_a_crash(tmp_path: Path) -> None:
    house = House(str(tmp_path))
    started = house.start(TOTAL.format(what="COUNT(*)"))
    house.tick(15)
    split = started.migrate(TOTAL.format(what="SUM(v)")).split
    house.tick(3)
    house.graph.stop()
    again = House(str(tmp_path))
    again.now = house.now
    started = again.start(TOTAL.format(what="SUM(v)"))
    assert started.migration is not None
    assert started.migration.split == split
    again.tick(20)
    assert started.migration.phase is Phase.DONE
    again.check(started, TOTAL.format(what="SUM(v)"), range(split, 36))
    again.graph.stop()


@pytest.mark.parametrize("case", [c for c in cases("genmig") if c.operator == "split_time"])
def test_split_times_of_the_text(case: Any) -> None:
    """Without a fraction of an instant: rows that end at the split do not hold there."""
    for facts in case.facts["instances"]:
        if "latest_starts" not in facts:
            continue
        house, window = House(), facts["window"]
        names = "abcd"[: len(facts["latest_starts"])]
        joined = ", ".join(f"{name} WINDOW(RANGE {window})" for name in names)
        started = house.start(f"SELECT {names[0]}.v AS n FROM {joined}")
        for name, latest in zip(names, facts["latest_starts"], strict=True):
            house.engine.push(name, [{"k": 1, "v": 1, "at": latest}])
        house.graph.tick()
        where = " AND ".join(f"{names[0]}.k < {name}.v" for name in names)
        migration = started.migrate(f"SELECT {names[0]}.v AS n FROM {joined} WHERE {where}")
        assert migration.split == facts["expected"]["split_after"]


def test_windows_change_their_size_meanwhile() -> None:
    """The new plan begins with the size in force, and both take part in later changes."""
    house = House()
    sql = "SELECT k, {what} AS n FROM a WINDOW(RANGE MIN 4, MAX 10) GROUP BY k"
    started = house.start(sql.format(what="COUNT(*)"))
    house.tick(15)
    (knob,) = house.graph.adaptation.sizes
    house.graph.adapt({knob: 5})
    house.tick(5)
    migration = started.migrate(sql.format(what="SUM(v)"))
    house.tick(2)
    house.graph.adapt({knob: 7})
    assert started.explain().count("[5 from 15, 7 from 22]") == 2
    house.tick(20)
    assert migration.phase is Phase.DONE
    house.check(started, "SELECT k, SUM(v) AS n FROM a WINDOW(RANGE 7) GROUP BY k", range(30, 45))


@pytest.mark.parametrize("crashes", [False, True])
def test_sizes_change_after_what_the_old_plan_answered_for(tmp_path: Path, crashes: bool) -> None:
    """No row has come to the window of the new plan, but to that of the old one."""
    house = House(str(tmp_path))
    sql = "SELECT k, {what} AS n FROM a WINDOW(RANGE MIN 4, MAX 10) GROUP BY k"
    started = house.start(sql.format(what="COUNT(*)"))
    house.tick(15)
    migration = started.migrate(sql.format(what="SUM(v)"))
    house.graph.heartbeat("a", 100)
    house.graph.tick()
    house.graph.tick()  # the old plan tells the rest
    assert migration.phase is Phase.DONE
    if crashes:
        house.graph.stop()
        house = House(str(tmp_path))
        started = house.start(sql.format(what="SUM(v)"))
    (knob,) = house.graph.adaptation.sizes
    assert house.graph.adapt({knob: 5}) == {knob: (migration.split, 5)}
    assert started.progress.sizes[knob] == ((0, 10), (migration.split, 5))
    assert started.settings(14, 15) == {knob: [(0, 10)]}
    house.graph.stop()
