"""A driver to be killed: reads a folder of files into a folder of results, with a checkpoint.

    python drive.py WORK [POINT:TICK | delay:SECONDS]

It kills itself and its Spark at the given point of the given tick, or some time after its first
tick began. The package knows nothing of it: its methods are wrapped here.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tidemill as tm
from tidemill.runtime.spark.checkpoint import Checkpoint
from tidemill.runtime.spark.run import SparkRun

COLUMNS = "(k BIGINT, v BIGINT, at BIGINT)"
QUERY = """
SELECT k, COUNT(*) AS n, SUM(v) AS total, MAX(v) AS top FROM s WINDOW(RANGE 12)
WHERE NOT EXISTS (SELECT 1 FROM t WINDOW(RANGE 4) WHERE t.k = s.k AND t.v > s.v)
GROUP BY k
"""


def kill() -> None:
    """End this process and its children at once, as `kill -9` would."""
    print("killed", flush=True)
    os.killpg(os.getpgrp(), signal.SIGKILL)


class Killer:
    """Kills at a point of a tick."""

    def __init__(self, wish: str) -> None:
        self._point, _, number = wish.partition(":")
        self._number = float(number or 0)
        self._waiting = False

    def reach(self, point: str, tick: int) -> None:
        print(point, tick, flush=True)
        if point == self._point and tick == self._number:
            kill()
        if point == "before-sink" and self._point == "in-sink" and tick == self._number:
            threading.Timer(0.4, kill).start()
        if self._point == "delay" and not self._waiting:
            self._waiting = True
            threading.Timer(self._number, kill).start()


def around(owner: type, name: str, before: Callable[..., Any], after: Callable[..., Any]) -> None:
    """Call something before and after a method."""
    method = getattr(owner, name)

    def wrapped(self: Any, *args: Any) -> Any:
        before(self, *args)
        result = method(self, *args)
        after(self, *args)
        return result

    setattr(owner, name, wrapped)


def watch(killer: Killer) -> None:
    def write(when: str) -> Callable[..., None]:
        def call(_: Any, name: str, text: str) -> None:
            if name.startswith("ticks/"):
                killer.reach(f"{when}-marks", int(Path(name).stem))
            elif name == "ended.json":
                killer.reach(f"{when}-end", 0)

        return call

    def nothing(*_: Any) -> None:
        pass

    def hook_sink(run: Any, *_: Any) -> None:
        (sink,) = run._sinks

        def hooked(rows: Any, tick: int) -> None:
            killer.reach("before-sink", tick)
            sink(rows, tick)
            killer.reach("after-sink", tick)

        run._sinks = [hooked]

    around(Checkpoint, "write", write("before"), write("after"))
    around(SparkRun, "__init__", nothing, hook_sink)


def main(work: Path, wish: str) -> None:
    watch(Killer(wish))
    with tm.Engine(partitions=2) as engine:
        for name in ("s", "t"):
            engine.sql(
                f"CREATE STREAM {name} {COLUMNS} SOURCE parquet(path => '{work / name}', "
                f"maxFilesPerTrigger => 1) ORDERED BY at SLACK 3"
            )
        query = engine.sql(QUERY)
        assert query is not None
        running = query.start(
            "parquet",
            path=str(work / "results"),
            checkpoint=str(work / "checkpoint"),
            available_now=True,
        )
        running.await_termination()
        late = {name: source.late_rows for name, source in running.progress.sources.items()}
        print("ended", late, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")
