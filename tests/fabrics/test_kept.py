"""Answers that are kept of a graph are those of the query, also after a restart."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow as pa

from tests.fabrics.ground import Ground, everywhere
from tidemill import Engine
from tidemill.engine.kept import KeptStore

COUNT = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 50) GROUP BY item"
ROWS = [{"item": n % 3, "at": 2 * n} for n in range(40)]


def _opened(fabric: Ground, folder: Path) -> Engine:
    engine = fabric.engine(keep=KeptStore(rows=1000, folder=folder / "answers"))
    engine.sql(f"""
        CREATE STREAM bid (item BIGINT, at BIGINT) ORDERED BY at;
        CREATE QUERY n AS {COUNT}
    """)
    engine.run(checkpoint=str(folder / "graph"))
    engine.sql("START QUERY n")
    return engine


@everywhere
def test_snapshots_before_and_after_a_restart(fabric: Ground, tmp_path: Path) -> None:
    for place in (0, 20):
        engine = _opened(fabric, tmp_path)
        engine.push("bid", ROWS[place : place + 20])
        engine.graph.process_all_available()
        kept = engine.kept("n")
        engine.close()
    alone = Engine(runtime="inprocess")
    alone.stream("bid", [pa.Table.from_pylist(ROWS)], time="at")
    answer = pl.DataFrame(alone.sql(COUNT).collect(coalesce=True))
    assert kept.complete_until == ROWS[-1]["at"]
    for instant in range(0, kept.complete_until, 7):
        holds = (pl.col("valid_from") <= instant) & (pl.col("valid_to") > instant)
        expected = answer.filter(holds).drop("valid_from", "valid_to").sort("item").to_dicts()
        assert kept.snapshot(instant).to_pylist() == expected
