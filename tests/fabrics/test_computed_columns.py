"""Columns that are computed of those that rows bring, their time among them: on both fabrics."""

from __future__ import annotations

from pathlib import Path

import pytest

import tidemill as tm
from tests.fabrics.ground import Ground
from tidemill.errors import TidemillError

STREAM = (
    "CREATE STREAM hire (bike STRING NOT NULL, fare STRING, moment BIGINT,"
    " cents AS CAST(CAST(fare AS DECIMAL(10, 2)) * 100 AS INT))"
    " {source} ORDERED BY timestamp_millis(moment) AS at SLACK 1 HOUR RETAIN 1 DAY"
)
QUERY = (
    "SELECT bike, cents, at FROM hire WINDOW(PARTITION BY bike ROWS 1) WHERE cents > 100",
    "SELECT bike, SUM(cents) AS n FROM hire WINDOW(RANGE 1 MINUTE) GROUP BY bike",
    "SELECT COUNT(*) AS n FROM hire GROUP BY window(at, '1 minute')",
    "SELECT h.bike, b.cents FROM hire AS h WINDOW(RANGE 1 MINUTE) JOIN hire AS b"
    " ON h.cents < b.cents",
)
ROWS = [("a", "1.50", 60_000), ("b", "2", 30_000), ("a", "0.5", 90_500), ("b", "9.99", 150_000)]


def by_hand() -> tm.Engine:
    """The same stream with its columns computed before."""
    engine = tm.Engine(runtime="inprocess")
    engine.sql(
        "CREATE STREAM hire (bike STRING, cents INT, at TIMESTAMP) ORDERED BY at SLACK 1 HOUR"
    )
    times = {60_000: "00:01:00", 30_000: "00:00:30", 90_500: "00:01:30.5", 150_000: "00:02:30"}
    cents = {"1.50": 150, "2": 200, "0.5": 50, "9.99": 999}
    rows = ", ".join(f"('{b}', {cents[f]}, TIMESTAMP '1970-01-01 {times[t]}')" for b, f, t in ROWS)
    columns = "AS t(bike, cents, at)"
    found = engine.sql(f"SELECT * FROM (VALUES {rows}) {columns}").collect()
    engine.push("hire", found.select(["bike", "cents", "at"]))
    return engine


def test_files(fabric: Ground, tmp_path: Path) -> None:
    lines = "\n".join(f"{bike},{fare},{moment}" for bike, fare, moment in ROWS)
    (tmp_path / "rows.csv").write_text(f"bike,fare,moment\n{lines}\n", "utf-8")
    engine, other = fabric.engine(2), by_hand()
    engine.sql(STREAM.format(source=f"SOURCE csv(path => '{tmp_path}')"))
    for sql in QUERY:
        assert engine.sql(sql).collect().to_pylist() == other.sql(sql).collect().to_pylist(), sql


def test_pushed_rows(fabric: Ground) -> None:
    engine, other = fabric.engine(2), by_hand()
    engine.sql(STREAM.format(source=""))
    for bad, reason in (
        ({"bike": None, "fare": "1", "moment": 0}, "`bike` of `hire` is NOT NULL"),
        ({"bike": "a", "fare": "much", "moment": 0}, "cannot cast a text"),
        ({"bike": "a", "fare": "1", "moment": None}, "time column `at` of `hire` is NULL"),
    ):
        with pytest.raises(TidemillError, match=reason):
            engine.push("hire", [bad])
    engine.push("hire", [dict(zip(("bike", "fare", "moment"), row, strict=True)) for row in ROWS])
    sql = QUERY[0]
    assert engine.sql(sql).collect().to_pylist() == other.sql(sql).collect().to_pylist()


def test_rows_of_relations_are_checked(fabric: Ground, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("bike,town\na,Leith\n,Crail\n", "utf-8")
    engine = fabric.engine(2)
    engine.sql(
        f"CREATE RELATION home (bike STRING NOT NULL, town STRING) SOURCE csv(path => '{tmp_path}')"
    )
    engine.sql("CREATE RELATION owner (bike STRING NOT NULL, name STRING) CHANGING")
    assert engine.sql("SELECT town FROM home").collect().num_rows == 2
    with pytest.raises(TidemillError, match="`bike` of `home` is NOT NULL"):
        engine.sql("SELECT bike FROM home").collect()
    with pytest.raises(TidemillError, match="`bike` of `owner` is NOT NULL"):
        engine.insert("owner", [{"bike": None, "name": "x"}])
