"""The folder of a server: a life that leaves every kind of file there, and how it goes on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from tests.store.lives import END, rows_of
from tidemill.errors import TidemillError
from tidemill.server import Settings, begin
from tidemill.server.keeping import execute
from tidemill.sql import parse

SCRIPT = """
CREATE STREAM bid (item BIGINT, at BIGINT) ORDERED BY at RETAIN 20;
CREATE RELATION house (item BIGINT, name STRING) CHANGING;
CREATE RELATION town (name STRING, people BIGINT) CHANGING;
CREATE STREAM often AS SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 6) GROUP BY item;
CREATE QUERY counts AS SELECT item, n FROM often WHERE n > 0;
CREATE QUERY names AS
SELECT b.item, h.name FROM bid WINDOW(RANGE 3) AS b JOIN house AS h ON b.item = h.item;
START QUERY counts; START QUERY names
"""

LIFE = (
    "INSERT INTO house VALUES (0, 'mill'), (1, 'barn')",
    "INSERT INTO town VALUES ('ford', 12)",
    0, 1, 2,
    "DELETE FROM house WHERE item = 1",
    "CREATE QUERY later AS SELECT MAX(item) AS most FROM bid WINDOW(RANGE 4); START QUERY later",
    3, 4,
    "INSERT INTO house VALUES (2, 'inn'), (1, 'shed')",
    "STOP QUERY counts",
    5, 6,
)  # fmt: skip
"""What is done before the folder is damaged: statements, and what is pushed."""

AFTER = ("START QUERY counts", 7, "INSERT INTO town VALUES ('quay', 3)", 8, 9)


class ServerLife:
    """A server over a folder; ticks are made by hand."""

    def __init__(self, folder: Path) -> None:
        settings = replace(Settings(every=3600.0, runtime="inprocess"), folder=folder)
        self.service = begin(replace(settings, durability="process"), SCRIPT)
        self.engine = self.service.engine

    def live(self, steps: tuple[str | int, ...]) -> None:
        for step in steps:
            if isinstance(step, str):
                for statement in parse(step):
                    execute(self.engine, self.service.log, statement)
            else:
                rows = [{"item": item, "at": at} for item, at in rows_of(step)]
                self.engine.push("bid", rows)
            if step != LIFE[-1]:  # no tick has taken the last rows
                self._tick()

    def _tick(self) -> None:
        self.service.graph.tick()
        for query in self.service.graph.queries.values():
            if (error := query.exception()) is not None:
                raise error

    def told(self) -> dict[str, Any]:
        """All that it says: queries, their answers up to the end of time, rows of relations."""
        failed = [each for each in self.service.events.all() if each.kind == "fail"]
        if failed:
            raise TidemillError("; ".join(str(each) for each in failed))
        self.service.graph.heartbeat("bid", END)
        self._tick()
        found: dict[str, Any] = {}
        for name, query in sorted(self.service.graph.queries.items()):
            kept = pl.DataFrame(self.engine.kept(name).between(0, END))
            found[name] = (str(query.state), sorted(map(str, kept.to_dicts())))
        for name in ("house", "town"):
            rows = self.engine.sql(f"SELECT * FROM {name}").collect()
            found[name] = sorted(map(str, rows.to_pylist()))
        return found

    def close(self) -> None:
        self.service.stop()


def make_folder(folder: Path) -> None:
    """What a server has left."""
    life = ServerLife(folder)
    life.live(LIFE)
    life.close()


def gone_on(folder: Path) -> dict[str, Any]:
    """What a server says that goes on with a folder."""
    life = ServerLife(folder)
    try:
        life.live(AFTER)
        return life.told()
    finally:
        life.close()
