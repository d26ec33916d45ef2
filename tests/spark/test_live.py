"""Graphs on Spark whose queries come and go: every one answers as if it ran alone."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.spark.live_graph import COUNTS, QUERIES, Answers, LiveGraph, check, random_rows

TICKS = 5


@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 3, 4))])
def test_random_revisions(seed: int, session: SparkSession, tmp_path: Path) -> None:
    random = Random(seed)
    ticks = random_rows(random, TICKS, 20)
    live = LiveGraph(session, tmp_path, str(tmp_path / "checkpoint"))
    live.run.start()
    gone: list[Answers] = []
    for number, rows in enumerate(ticks):
        if number == 3:
            live = restarted(session, live, tmp_path)
        with live.graph.together():
            for _ in range(random.randrange(2) if live.answers else 0):
                gone.append(live.remove(random.choice(sorted(live.answers))))
            for added in range(random.randrange(2, 5) if number < TICKS - 1 else 0):
                live.add(f"{number}.{added}", random.choice(QUERIES))
        live.bring(rows)
        assert not live.run.failures
    for answers in [*gone, *live.end()]:
        check(answers, ticks)
    assert len(gone) > 1


def restarted(session: SparkSession, live: LiveGraph, work: Path) -> LiveGraph:
    """The graph after a stop, with the queries that it had."""
    live.run.stop()
    other = LiveGraph(session, work, str(work / "checkpoint"))
    other.run.start()
    other.go_on(live)
    return other


def test_queries_that_fail_leave_the_others_alone(session: SparkSession, tmp_path: Path) -> None:
    ticks = random_rows(Random(5), 3, 20)
    live = LiveGraph(session, tmp_path)

    def even(value: int) -> int:
        if value % 2:
            raise ValueError("odd")
        return value

    live.engine.function("even", even, returns="BIGINT")
    live.run.start()
    live.add("counts", COUNTS)
    live.bring(ticks[0])
    live.add("operator", f"SELECT k, even(n) AS n FROM ({COUNTS}) AS c")
    live.add("native", "SELECT k, 10 / (v - v) AS q FROM s")
    live.add("pairs", QUERIES[3])
    live.bring(ticks[1])
    live.bring(ticks[2])
    failed = {name: str(q.error) for name, q in live.graph.queries.items() if q.error}
    assert sorted(failed) == ["native", "operator"]
    assert "odd" in failed["operator"]
    assert "zero" in failed["native"].lower()
    assert list(live.graph.running) == ["counts", "pairs"]
    for answers in live.end():
        if answers.sql in (COUNTS, QUERIES[3]):
            check(answers, ticks)
