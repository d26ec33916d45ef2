"""A driver to be killed: keeps a table in PostgreSQL equal to the snapshot of a query.

    python drive_sink.py WORK URL [POINT:TICK | delay:SECONDS]

Where it kills itself is told in `tests/spark/scripts/drive.py`; there are points within the
transaction besides. What the sink is given goes into a file per tick, to be compared.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import tidemill as tm
from tests.spark.scripts.drive import COLUMNS, QUERY, Killer, around, watch
from tidemill.postgres.sink import PostgresSink


def keep(work: Path, rows: pa.Table, tick: int) -> None:
    """Keep the rows of a tick; one that is done again must have the same."""
    path = work / f"given-{tick}.parquet"
    if not path.exists():
        part = path.with_suffix(".part")
        pq.write_table(rows, part)
        part.rename(path)
    order = [(name, "ascending") for name in rows.column_names]
    assert pq.read_table(path).sort_by(order).equals(rows.sort_by(order)), f"other rows: {tick}"


def watch_transactions(work: Path, killer: Killer) -> None:
    """Reach points before, between and after what a transaction does."""
    now: dict[str, int] = {}

    def given(_: Any, rows: pa.Table, tick: int) -> None:
        keep(work, rows, tick)
        now["tick"] = tick
        killer.reach("before-transaction", tick)

    def reach(point: str) -> Any:
        return lambda *_: killer.reach(point, now["tick"])

    around(PostgresSink, "__call__", given, reach("after-commit"))
    around(PostgresSink, "_replace", reach("before-copy"), reach("after-copy"))


def main(work: Path, url: str, wish: str) -> None:
    killer = Killer(wish)
    watch(killer)
    watch_transactions(work, killer)
    with tm.Engine(partitions=2) as engine:
        for name in ("s", "t"):
            engine.sql(
                f"CREATE STREAM {name} {COLUMNS} SOURCE parquet(path => '{work / name}', "
                f"maxFilesPerTrigger => 1) ORDERED BY at SLACK 3"
            )
        query = engine.sql(f"INSERT INTO postgres(url => '{url}', table => 'result') {QUERY}")
        assert query is not None
        running = query.start(checkpoint=str(work / "checkpoint"), available_now=True)
        running.await_termination()
        print("ended", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "")
