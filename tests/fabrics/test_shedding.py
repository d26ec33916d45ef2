"""Star joins with bounded memory in partitions: divided by what the relation connects."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

import tidemill as tm
from tests.fabrics.answers import query_of
from tests.fabrics.ground import Ground, everywhere

STAR = (
    "SELECT r.v AS a, s.v AS b, LEAST(r.imp, s.imp) AS i FROM r WINDOW(RANGE 20), f, "
    "s WINDOW(RANGE 20) WHERE r.v = f.a AND f.b = s.v"
)
TICK = 60


def rows_of(rng: Random) -> list[list[dict[str, Any]]]:
    rows = [
        {"at": t, "v": rng.choice([None, *range(12)]), "imp": rng.randint(1, 9)}
        for t in range(120)
        for _ in range(2)
    ]
    return [rows[at : at + TICK] for at in range(0, len(rows), TICK)]


ALONE = Ground()


def engine_of(fabric: Ground, changing: bool = False, partitions: int = 1) -> tm.Engine:
    rng = Random(4)
    engine = fabric.engine(partitions)
    engine.stream("r", rows_of(rng), time="at")
    engine.stream("s", rows_of(rng), time="at")
    facts = [{"a": rng.randint(0, 11), "b": rng.choice([None, *range(12)])} for _ in range(9)]
    if changing:
        for fact in facts:
            fact["begin"], fact["end"] = rng.randint(0, 60), rng.randint(60, 150)
    engine.relation("f", facts, changing=("begin", "end") if changing else False)
    return engine


def answer(engine: tm.Engine, sql: str) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row.values()) for row in query_of(engine, sql).collect().to_pylist())


@everywhere
def test_partitions_give_part_of_the_exact_answer(fabric: Ground) -> None:
    exact = answer(engine_of(ALONE), STAR)
    engine = engine_of(fabric, partitions=2)
    query = query_of(engine, f"{STAR} SHED TO 12 ROWS BY imp USING dgl")
    assert "AssignPartitionExec" in query.explain("stages")
    found = Counter(tuple(row.values()) for row in query.collect().to_pylist())
    assert found <= exact
    assert 0 < found.total() < exact.total()
    shed = query.progress.shed
    assert shed.rows > 0
    assert shed.results_given == found.total()
    assert answer(engine, f"{STAR} SHED TO 500 ROWS BY imp USING dgl") == exact


@pytest.mark.parametrize("changing", [False, True], ids=["constant", "changing"])
def test_one_partition_gives_what_one_process_gives(fabric: Ground, changing: bool) -> None:
    sql = f"{STAR} SHED TO 12 ROWS BY imp USING dimpprob"
    # What changes may connect everything, so all of it is in one partition anyway.
    engine = engine_of(fabric, changing, partitions=2 if changing else 1)
    assert answer(engine, sql) == answer(engine_of(ALONE, changing), sql)


def test_what_is_kept_outlives_a_restart(fabric: Ground, tmp_path: Path) -> None:
    sql = f"{STAR} SHED TO 12 ROWS BY imp USING simp"
    ticks: dict[int, list[tuple[Any, ...]]] = {}
    failures = [RuntimeError("killed")]

    def keep(table: Any, tick: int) -> None:
        if tick == 2 and failures:
            raise failures.pop()
        ticks[tick] = [tuple(row.values()) for row in table.to_pylist()]

    def run() -> None:
        query = query_of(engine_of(fabric, changing=True, partitions=2), sql)
        query.start(keep, checkpoint=str(tmp_path), available_now=True).await_termination()

    with pytest.raises(RuntimeError, match="killed"):
        run()
    run()
    found = Counter(row for rows in ticks.values() for row in rows)
    assert found == answer(engine_of(ALONE, changing=True), sql)
