"""A small run that keeps its answers, in a folder, and what it must answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from tidemill import Engine
from tidemill.engine.kept import KeptStore
from tidemill.store import Store

STREAM = "CREATE STREAM bid (item BIGINT, at BIGINT) ORDERED BY at"
RELATION = "CREATE RELATION house (item BIGINT, name STRING) CHANGING"
COUNT = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 6) GROUP BY item"
NAMES = "SELECT b.item, h.name FROM bid WINDOW(RANGE 3) AS b JOIN house AS h ON b.item = h.item"
QUERIES = {"counts": COUNT, "names": NAMES}
END = 1000

Row = tuple[int, int]


def rows_of(number: int) -> list[Row]:
    """What is pushed: a different number of rows each time."""
    return [((number + each) % 3, 2 * number + each) for each in range(1 + number % 3)]


class Life:
    """An engine over a folder that goes on where it was left."""

    def __init__(self, folder: Path, durability: Any = "machine") -> None:
        store = Store(str(folder), durability)
        if not store.exists("catalog.sql"):  # as a server would have it
            for name in ("catalog.sql", "catalog.sql.before"):
                store.put(name, b"")
        keep = KeptStore(10_000, folder / "results", durability)
        self.engine = Engine("inprocess", keep=keep, durability=durability)
        try:
            self._open(folder)
        except BaseException:
            self.engine.close()
            raise

    def _open(self, folder: Path) -> None:
        self.engine.sql(STREAM)
        self.engine.sql(RELATION)
        self.engine.insert("house", [{"item": n, "name": f"h{n}"} for n in range(2)], at=0)
        for name, sql in QUERIES.items():
            self.engine.sql(f"CREATE QUERY {name} AS {sql}")
        self.graph = self.engine.run(checkpoint=str(folder / "graph"), every=None)
        with self.graph.together():
            for name in QUERIES:
                self.engine.sql(f"START QUERY {name}")

    def push(self, rows: list[Row]) -> None:
        self.engine.push("bid", [dict(zip(("item", "at"), row, strict=True)) for row in rows])

    def tick(self) -> None:
        self.graph.tick()
        self.refuse_failures()

    def refuse_failures(self) -> None:
        for query in self.graph.queries.values():
            if (error := query.exception()) is not None:
                raise error

    def answers(self) -> dict[str, list[dict[str, Any]]]:
        """All answers, after the end of time has come."""
        self.graph.heartbeat("bid", END)
        self.tick()
        tables = {name: pl.DataFrame(self.engine.kept(name).between(0, END)) for name in QUERIES}
        return {name: _sorted(table) for name, table in tables.items()}

    def close(self) -> None:
        self.engine.close()


def expected(rows: list[Row]) -> dict[str, list[dict[str, Any]]]:
    """The same from all rows at once."""
    table = pa.table({"item": [r[0] for r in rows], "at": [r[1] for r in rows]})
    engine = Engine("inprocess")
    engine.stream("bid", [table.cast(pa.schema({"item": pa.int64(), "at": pa.int64()}))], "at")
    engine.relation("house", [{"item": n, "name": f"h{n}"} for n in range(2)])
    found = {}
    for name, sql in QUERIES.items():
        query = engine.sql(sql)
        assert query is not None
        found[name] = _sorted(pl.DataFrame(query.collect(coalesce=True)))
    return found


def _sorted(table: pl.DataFrame) -> list[dict[str, Any]]:
    return sorted(table.to_dicts(), key=str)
