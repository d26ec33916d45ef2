"""Checkpoints that go on in other partitions, or with other hashes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import tidemill as tm
from tidemill.runtime.manifest import hash_version

COLUMNS = pa.schema({"item": pa.string(), "price": pa.int64(), "minute": pa.int64()})
ROWS = [
    {"item": f"item {minute * 7 % 11}", "price": minute * 5 % 13, "minute": minute // 2}
    for minute in range(120)
]
QUERIES = {
    "counts": "SELECT item, COUNT(*) AS n, MAX(price) AS high FROM bid WINDOW(RANGE 9) "
    "GROUP BY item",
    "pairs": "SELECT a.item, b.price FROM bid WINDOW(RANGE 5) a JOIN bid WINDOW(RANGE 3) b "
    "ON a.item = b.item",
    "last": "SELECT item, price FROM bid WINDOW(PARTITION BY item ROWS 3)",
    "visits": "SELECT item, price FROM bid WINDOW(PARTITION BY item SESSION 6)",
    "prices": "SELECT DISTINCT price FROM bid WINDOW(RANGE 6)",
}
FIRST = "SELECT item, price FROM bid WINDOW(RANGE 9) ORDER BY price DESC, item LIMIT 3"


def lived(
    folder: Path,
    numbers: list[int | None],
    queries: dict[str, str],
    given: list[dict[str, Any]] = ROWS,
    ends: bool = True,
) -> dict[str, Any]:
    """What queries answer that go on in so many partitions, one life after the other."""
    answers: dict[str, list[Any]] = {name: [] for name in queries}
    step = len(given) // len(numbers)
    for life, partitions in enumerate(numbers):
        engine = tm.Engine("inprocess", partitions=partitions)
        engine.stream("bid", COLUMNS, time="minute", slack=2)
        graph = engine.run(checkpoint=str(folder), every=None)
        running = {n: engine.sql(sql).start("memory", name=n) for n, sql in queries.items()}
        mine = given[life * step : (life + 1) * step]
        for start in range(0, step, 10):
            engine.push("bid", mine[start : start + 10])
            graph.tick()
        if ends and life + 1 == len(numbers):
            graph.heartbeat("bid", 1000)
            graph.tick()
        for name, query in running.items():
            answers[name] += query.results().to_pylist()
        engine.close()
    return {name: snapshots(rows) for name, rows in answers.items()}


def snapshots(rows: list[dict[str, Any]]) -> list[Any]:
    """What holds at every instant, however rows are cut."""
    found = []
    for at in range(80):
        here = [row for row in rows if row["valid_from"] <= at < (row["valid_to"] or 10**9)]
        found.append(sorted(repr([v for k, v in r.items() if "valid" not in k]) for r in here))
    return found


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    queries = {**QUERIES, "first": FIRST}
    return lived(tmp_path_factory.mktemp("whole"), [2], queries)


@pytest.mark.parametrize(
    "numbers", [[1, 4], [4, 1], [2, 3, 5], [3, 2, 4, 1, 6], [1, 3, 1, 2], [3, None]]
)
def test_other_partitions(tmp_path: Path, expected: dict[str, Any], numbers: list[Any]) -> None:
    found = lived(tmp_path, numbers, QUERIES)
    assert found == {name: expected[name] for name in QUERIES}
    parts = list(tmp_path.glob("state/stage=1/partition=*"))
    assert len(parts) == (numbers[-1] or numbers[-2])


def test_what_began_in_one_partition_keeps_its_first_rows_there(
    tmp_path: Path, expected: dict[str, Any]
) -> None:
    assert lived(tmp_path, [1, 3, 2], {"first": FIRST})["first"] == expected["first"]


def test_first_rows_of_partitions_stay_where_they_are(
    tmp_path: Path, expected: dict[str, Any]
) -> None:
    with pytest.warns(UserWarning, match="goes on with 3 partitions, not 2: TopKExec"):
        found = lived(tmp_path, [3, 2], {"first": FIRST})
    assert found["first"] == expected["first"]


def test_other_hashes(
    tmp_path: Path, expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if another version of Polars had them."""
    whole = pl.DataFrame.hash_rows
    found = {}
    for name, partitions in (("first", 1), *((name, 3) for name in QUERIES)):
        query = {name: {**QUERIES, "first": FIRST}[name]}
        halves = []
        for life, rows in enumerate((ROWS[:60], ROWS[60:])):
            monkeypatch.setattr(
                pl.DataFrame, "hash_rows", lambda self, seed=0, life=life: whole(self, seed + life)
            )
            hash_version.cache_clear()
            halves.append(lived(tmp_path / name, [partitions], query, rows, ends=life == 1)[name])
        found[name] = [sorted(a + b) for a, b in zip(*halves, strict=True)]
    monkeypatch.undo()
    hash_version.cache_clear()
    assert found == expected
