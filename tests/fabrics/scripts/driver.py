"""A driver to be killed: a query into files or a database, or a graph whose queries come and go.

    python driver.py KIND FABRIC WORK [WISH] [URL]

It kills itself and all its processes when it reaches a point for the given time (`POINT:TIME`), or
some time after it has reached the first one (`delay:SECONDS`). Started again it goes on. The
package knows nothing of it: its methods are wrapped here.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import tidemill as tm
from tests.fabrics.live_graph import COUNTS, END, declare
from tidemill.connectors.feeds import PushedFeed
from tidemill.connectors.postgres.sink import PostgresSink
from tidemill.runtime.delivery import Delivery
from tidemill.store import Store

COLUMNS = "(k BIGINT, v BIGINT, at BIGINT)"
QUERY = """
SELECT k, COUNT(*) AS n, SUM(v) AS total, MAX(v) AS top FROM s WINDOW(RANGE 12)
WHERE NOT EXISTS (SELECT 1 FROM t WINDOW(RANGE 4) WHERE t.k = s.k AND t.v > s.v)
GROUP BY k
"""
QUERIES = {
    "counts": COUNTS,
    "pairs": "SELECT s.k, s.v, t.v AS w FROM s WINDOW(RANGE 3), t WINDOW(RANGE 5) WHERE s.k = t.k",
    "hot": f"SELECT n, COUNT(*) AS m FROM ({COUNTS}) AS c GROUP BY n",
    "names": f"SELECT c.k, n, name FROM ({COUNTS}) AS c, label WHERE c.k = label.k",
    "large": "SELECT k, v + 1 AS v FROM t WHERE v > 5",
}
STEPS = [
    (["counts", "pairs"], []),
    (["hot", "names"], []),
    (["large"], ["counts", "pairs"]),
    (["pairs2"], ["names"]),
]
QUERIES["pairs2"] = QUERIES["pairs"]


def kill() -> None:
    """End this process and its children at once, as `kill -9` would."""
    print("killed", flush=True)
    os.killpg(os.getpgrp(), signal.SIGKILL)


class Killer:
    """Kills when a point is reached for the given time; `any` is any of them."""

    def __init__(self, wish: str) -> None:
        self._point, _, number = wish.partition(":")
        self._number = float(number or 0)
        self._reached: Counter[str] = Counter()
        self._lock = threading.Lock()

    def reach(self, *points: str) -> None:
        with self._lock:
            for point in (*points, "any"):
                self._reached[point] += 1
                if point == self._point and self._reached[point] == self._number:
                    print("at", *points, self._reached["any"], flush=True)
                    kill()
            if self._point == "delay" and self._reached["any"] == 1:
                threading.Timer(self._number, kill).start()

    @property
    def all(self) -> int:
        return self._reached["any"]


def around(owner: type, name: str, killer: Killer, points: Callable[..., list[str]]) -> None:
    """Reach points before and after a method; they are told by its arguments."""
    method = getattr(owner, name)

    def wrapped(self: Any, *args: Any, **more: Any) -> Any:
        found = points(*args)
        killer.reach(*(f"before-{point}" for point in found))
        result = method(self, *args, **more)
        killer.reach(*(f"after-{point}" for point in found))
        return result

    setattr(owner, name, wrapped)


def watch(killer: Killer) -> None:
    # (Of tasks, only those in this process.)
    around(Store, "put", killer, lambda name, *_: [name.split("/")[0], _kind(name)])
    around(Delivery, "give", killer, lambda *_: ["sinks"])
    around(PushedFeed, "push", killer, lambda *_: ["push"])
    around(PostgresSink, "__call__", killer, lambda *_: ["transaction"])
    around(PostgresSink, "_replace", killer, lambda *_: ["copy"])


def _kind(name: str) -> str:
    """What a file is: a tick that has begun or is done, an epoch, state, ..."""
    return name.rsplit(".", 1)[-1]


def read_files(engine: tm.Engine, work: Path) -> None:
    for name in ("s", "t"):
        engine.sql(
            f"CREATE STREAM {name} {COLUMNS} SOURCE parquet(path => '{work / name}', "
            f"maxFilesPerTrigger => 1) ORDERED BY at SLACK 3"
        )


def run_files(engine: tm.Engine, work: Path, url: str) -> None:
    """A query into files."""
    read_files(engine, work)
    options = {"path": str(work / "results"), "checkpoint": str(work / "checkpoint")}
    query = engine.sql(QUERY)
    assert query is not None
    query.start("parquet", available_now=True, **options).await_termination()


def run_postgres(engine: tm.Engine, work: Path, url: str) -> None:
    """A query whose snapshot is a table; what the sink is given goes into a file per tick."""
    read_files(engine, work)
    write = PostgresSink.__call__

    def keeping(self: PostgresSink, rows: pa.Table, tick: int) -> None:
        keep(work, rows, tick)
        write(self, rows, tick)

    PostgresSink.__call__ = keeping  # type: ignore[method-assign]
    query = engine.sql(f"INSERT INTO postgres(url => '{url}', table => 'result') {QUERY}")
    assert query is not None
    query.start(checkpoint=str(work / "checkpoint"), available_now=True).await_termination()


def keep(work: Path, rows: pa.Table, tick: int) -> None:
    """Keep the rows of a tick; one that is done again must have the same."""
    path = work / f"given-{tick}.parquet"
    if not path.exists():
        part = path.with_suffix(".part")
        pq.write_table(rows, part)
        part.rename(path)
    order = [(name, "ascending") for name in rows.column_names]
    assert pq.read_table(path).sort_by(order).equals(rows.sort_by(order)), f"other rows: {tick}"


class GraphDriver:
    """Changes the queries step by step, and brings rows after every step.

    A push that has returned is noted as acknowledged: it must never be lost.
    """

    def __init__(self, engine: tm.Engine, work: Path) -> None:
        self._engine = engine
        self._work = work
        declare(engine, work)
        self._graph = engine.run(checkpoint=str(work / "checkpoint"))

    def run(self) -> None:
        for name in list(self._graph.running):
            self._start(name)
        for number, (added, removed) in enumerate(STEPS):
            if not (self._work / f"acknowledged-{number}").exists():
                self._change(added, removed)
                self._bring(number)
        for name in ("s", "t"):
            self._graph.heartbeat(name, END)
        self._graph.process_all_available()
        for name in QUERIES:
            query = self._graph.members.get(name)
            print("since", name, "-" if query is None else query.complete_from, flush=True)

    def _change(self, added: list[str], removed: list[str]) -> None:
        # One by one: a crash may come in between.
        for name in removed:
            if name in self._graph.running:
                self._graph.queries[name].stop()
        for name in added:
            if name not in self._graph.running:
                self._start(name)

    def _start(self, name: str) -> None:
        query = self._engine.sql(QUERIES[name])
        assert query is not None
        query.start("parquet", path=str(self._work / "results" / name), name=name)

    def _bring(self, number: int) -> None:
        file = f"{number:04d}.parquet"
        if not (self._work / "s" / file).exists():
            os.link(self._work / "input" / "s" / file, self._work / "s" / file)
        rows = pq.read_table(self._work / "input" / "t" / file)
        parts = [rows.slice(0, rows.num_rows // 2), rows.slice(rows.num_rows // 2)]
        there = self._pushed()
        assert there >= 2 * number, f"{2 * number} pushes were acknowledged, and {there} are there"
        for part in parts[there - 2 * number :]:
            self._engine.push("t", part)
        (self._work / f"acknowledged-{number}").touch()
        self._graph.process_all_available()

    def _pushed(self) -> int:
        """How many pushes the checkpoint has ever had, acknowledged or not."""
        inbox = self._engine._sources.pushed(self._engine.source("t"))
        return max((feed.poll() for feed in inbox._readers), default=0)


def run_graph(engine: tm.Engine, work: Path, url: str) -> None:
    GraphDriver(engine, work).run()


RUNS = {"files": run_files, "postgres": run_postgres, "graph": run_graph}


def main(kind: str, fabric: str, work: Path, wish: str = "", url: str = "") -> None:
    killer = Killer(wish)
    watch(killer)
    with tm.Engine(fabric, partitions=2) as engine:
        RUNS[kind](engine, work, url)
        print("ended", killer.all, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), *sys.argv[4:])
