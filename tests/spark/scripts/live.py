"""A driver to be killed: a graph whose queries come and go, with a checkpoint.

    python live.py WORK [POINT:NUMBER]

It brings the files of WORK/input to its streams step by step, changes its queries before each
step, and kills itself and its Spark when it reaches a point for the given time. When it is started
again it goes on. At the end it prints from when on every query has answered.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tidemill as tm
from tests.spark.live_graph import COUNTS, END, LABELS
from tests.spark.scripts.drive import around, kill
from tidemill.runtime.spark.checkpoint import Checkpoint
from tidemill.runtime.spark.delivery import Delivery
from tidemill.runtime.spark.epochs import EpochLog

QUERIES = {
    "counts": COUNTS,
    "pairs": "SELECT s.k, s.v, t.v AS w FROM s WINDOW(RANGE 3), t WINDOW(RANGE 5) WHERE s.k = t.k",
    "hot": f"SELECT n, COUNT(*) AS m FROM ({COUNTS}) AS c GROUP BY n",
    "names": f"SELECT c.k, n, name FROM ({COUNTS}) AS c, label WHERE c.k = label.k",
    "large": "SELECT k, v + 1 AS v FROM s WHERE v > 5",
}
STEPS = [
    (["counts", "pairs"], []),
    (["hot", "names"], []),
    (["large"], ["counts", "pairs"]),
    (["pairs2"], ["names"]),
]
QUERIES["pairs2"] = QUERIES["pairs"]


class Killer:
    """Kills when a point is reached for the given time."""

    def __init__(self, wish: str) -> None:
        self._point, _, number = wish.partition(":")
        self._number = int(number or 0)
        self._reached: Counter[str] = Counter()

    def at(self, point: str) -> Callable[..., None]:
        def reach(_: Any, *args: Any) -> None:
            if point.endswith("marks") and not args[0].startswith("ticks/"):
                return
            self._reached[point] += 1
            print(point, self._reached[point], flush=True)
            if point == self._point and self._reached[point] == self._number:
                kill()

        return reach


def watch(killer: Killer) -> None:
    around(EpochLog, "write", killer.at("before-epoch"), killer.at("after-epoch"))
    around(Checkpoint, "write", killer.at("before-marks"), killer.at("after-marks"))
    around(Delivery, "give", killer.at("before-sinks"), killer.at("after-sinks"))


class Driver:
    def __init__(self, engine: tm.Engine, work: Path) -> None:
        self._engine = engine
        self._work = work
        for name in ("s", "t"):
            (work / name).mkdir(exist_ok=True)
            engine.sql(
                f"CREATE STREAM {name} (k BIGINT, v BIGINT, at BIGINT) "
                f"SOURCE parquet(path => '{work / name}') ORDERED BY at"
            )
        engine.relation("label", LABELS)
        self._graph = engine.run(checkpoint=str(work / "checkpoint"))

    def run(self) -> None:
        for name in list(self._graph.graph.running):
            self._start(name)
        for number, (added, removed) in enumerate(STEPS):
            if not (self._work / "t" / f"{number:04d}.parquet").exists():
                self._change(added, removed)
                self._bring(number)
        for name in ("s", "t"):
            self._graph.heartbeat(name, END)
        self._graph.process_all_available()
        for name in QUERIES:
            query = self._graph.graph.queries.get(name)
            print("since", name, "-" if query is None else query.complete_from, flush=True)

    def _change(self, added: list[str], removed: list[str]) -> None:
        # One by one: a crash may come in between.
        for name in removed:
            if self._graph.graph.is_running(name):
                self._graph.queries[name].stop()
        for name in added:
            if not self._graph.graph.is_running(name):
                self._start(name)

    def _start(self, name: str) -> None:
        query = self._engine.sql(QUERIES[name])
        assert query is not None
        query.start("parquet", path=str(self._work / "results" / name), name=name)

    def _bring(self, number: int) -> None:
        for name in ("s", "t"):
            file = f"{number:04d}.parquet"
            if not (self._work / name / file).exists():
                os.link(self._work / "input" / name / file, self._work / name / file)
        self._graph.process_all_available()


def main(work: Path, wish: str) -> None:
    watch(Killer(wish))
    with tm.Engine(partitions=2) as engine:
        Driver(engine, work).run()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")
