"""How often files are looked for."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import tidemill as tm
from tests.fabrics.answers import query_of
from tidemill.connectors.feeds import FilesFeed

STREAM = """
CREATE STREAM bid (item BIGINT, at BIGINT) SOURCE parquet(path => '{}') ORDERED BY at;
SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 3) GROUP BY item
"""


def write(folder: Path, number: int) -> None:
    pl.DataFrame({"item": [7], "at": [number]}).write_parquet(folder / f"{number}.parquet")


def test_files_are_looked_for_once_in_a_tick(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    poll = FilesFeed.poll

    def polled(self: FilesFeed) -> int:
        looks.append(self.name)
        return poll(self)

    write(tmp_path, 1)
    with tm.Engine("inprocess") as engine:
        query = query_of(engine, STREAM.format(tmp_path))
        graph = engine.run(every=None)
        query.start("noop", name="counts")
        graph.tick()
        monkeypatch.setattr(FilesFeed, "poll", polled)
        assert not graph.tick_if_more()
        write(tmp_path, 2)
        looks.clear()
        assert graph.tick_if_more()
        assert looks == ["bid"]
        write(tmp_path, 3)
        assert graph.has_more
        write(tmp_path, 4)
        graph.tick()  # by hand: it reads what is there now
        assert graph.sources["bid"].rows == 4
