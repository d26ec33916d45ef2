"""Graphs whose queries come and go: every one answers as if it ran alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.fabrics.answers import Results, query_of
from tests.fabrics.ground import Ground, everywhere, in_process, seeds
from tests.fabrics.live_graph import COUNTS, QUERIES, Answers, LiveGraph, check, random_rows
from tests.fabrics.simulated import Rough
from tests.random.cases import graph_case

TICKS = 5


@seeds(range(16), spark=[6], long=range(12))
def test_random_lives(fabric: Ground, seed: int) -> None:
    """Queries come, migrate, are adapted and go; the process dies at any of its writes."""
    case = graph_case(Random(seed))
    replace(case, make=lambda partitions, random: fabric.make(partitions)).check()


@pytest.mark.parametrize("seed", range(8))
def test_random_lives_where_tasks_are_done_twice(seed: int) -> None:
    """As Spark may do them: in any order, by workers that forget, and again after others."""
    replace(graph_case(Random(seed)), make=Rough).check()


@seeds(range(8), spark=[1], long=[2, 3, 4, 5])
def test_random_revisions(fabric: Ground, seed: int, tmp_path: Path) -> None:
    """Queries in SQL, over files and rows that are pushed, with a stop in between."""
    random = Random(seed)
    ticks = random_rows(random, TICKS, 20)
    live = LiveGraph(fabric.engine(), tmp_path)
    gone: list[Answers] = []
    for number, rows in enumerate(ticks):
        if number == 3:
            live = live.restarted(fabric.engine())
        with live.graph.together():
            for _ in range(random.randrange(2) if live.answers else 0):
                gone.append(live.remove(random.choice(sorted(live.answers))))
            for added in range(random.randrange(2, 5) if number < TICKS - 1 else 0):
                live.add(f"{number}.{added}", random.choice(QUERIES))
        live.bring(rows, number)
        assert live.graph.running.keys() == live.answers.keys()
    for answers in [*gone, *live.end()]:
        check(answers, ticks)


@everywhere
def test_queries_that_fail_leave_the_others_alone(fabric: Ground, tmp_path: Path) -> None:
    ticks = random_rows(Random(5), 3, 20)
    live = LiveGraph(fabric.engine(), tmp_path)

    def even(value: int) -> int:
        if value % 2:
            raise ValueError("odd")
        return value

    live.engine.function("even", even, returns="BIGINT")
    live.add("counts", COUNTS)
    live.bring(ticks[0], 0)
    live.add("operator", f"SELECT k, even(n) AS n FROM ({COUNTS}) AS c")
    live.add("reading", "SELECT k, 10 / (v - v) AS q FROM s")
    live.add("sink", COUNTS, Broken())
    live.add("pairs", QUERIES[3])
    live.bring(ticks[1], 1)
    live.bring(ticks[2], 2)
    graph = live.graph
    failed = {name: str(query.error) for name, query in graph.members.items() if query.error}
    assert sorted(failed) == ["operator", "reading", "sink"]
    assert "odd" in failed["operator"]
    assert "zero" in failed["reading"].lower()
    assert failed["sink"] == "the disk is full"
    assert list(graph.running) == ["counts", "pairs"]
    for answers in live.end():
        if answers.sql == QUERIES[3] or answers.since == 0:
            check(answers, ticks)


class Broken(Results):
    """A sink that never works."""

    def __call__(self, rows: object, tick: int) -> None:
        raise RuntimeError("the disk is full")


@pytest.mark.parametrize("sql", [COUNTS, "SELECT k, name FROM label", QUERIES[5]])
def test_what_comes_again_between_two_ticks(fabric: Ground, sql: str) -> None:
    """It is another query, which has seen nothing yet: relations are read for it again."""
    engine = fabric.engine()
    engine.sql("CREATE STREAM s (k BIGINT, v BIGINT, at BIGINT) ORDERED BY at RETAIN 1000")
    engine.relation("label", [{"k": k, "name": f"label {k}"} for k in (0, 1)])
    graph = engine.run(every=None)
    first, second = Results(), Results()
    query_of(engine, sql).start(first, name="first")
    engine.push("s", [{"k": n % 2, "v": n, "at": n} for n in range(10)])
    graph.tick()
    graph.query("first").stop()
    started = query_of(engine, sql).start(second, name="second")
    assert started.complete_from == 0, "the rows are still there"
    graph.heartbeat("s", 50) if "FROM s" in sql else graph.tick()
    graph.process_all_available()
    alone = engine.sql(sql).collect(coalesce=True)
    engine.close()
    assert alone.num_rows
    assert covered(second) == covered_by(alone)


@in_process
def test_a_relation_of_which_only_other_columns_are_still_read(fabric: Ground) -> None:
    """What read these columns has had its rows, and is gone: they have to be read again."""
    engine, again = fabric.engine(), Results()
    engine.relation("label", [{"k": 1, "name": "one", "size": 3}])
    graph = engine.run(every=None)
    query_of(engine, "SELECT k, name FROM label").start(Results(), name="first")
    query_of(engine, "SELECT k, size FROM label").start(Results(), name="other")
    graph.tick()
    graph.query("first").stop()
    query_of(engine, "SELECT k, name FROM label").start(again, name="second")
    graph.tick()
    engine.close()
    assert again.table["name"].to_pylist() == ["one"]


def covered(results: Results) -> dict[str, int]:
    return covered_by(results.table)


def covered_by(table: object) -> dict[str, int]:
    """For how long every row holds, up to an instant at which all is known."""
    found: dict[str, int] = {}
    for row in table.to_pylist():  # type: ignore[attr-defined]
        start, end = row.pop("valid_from"), row.pop("valid_to")
        key = str(sorted(row.items()))
        found[key] = found.get(key, 0) + min(50, end or 50) - min(50, start)
    return found
