"""A process that reads a topic and writes another, and is killed at a point of a tick."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tidemill as tm
from tests.connectors.kafka.streams import declared_at
from tidemill.connectors.kafka.log import OffsetLog
from tidemill.connectors.kafka.writing import TopicWriter
from tidemill.runtime.ticks import TickLog

POINTS: dict[str, tuple[type, str]] = {
    "offsets": (OffsetLog, "add"),
    "begun": (TickLog, "begin"),
    "written": (TopicWriter, "write"),
    "done": (TickLog, "commit"),
}
"""What has just been done when the process dies."""

ALL = "SELECT item, price FROM bid WINDOW(RANGE 1)"


def copied(engine: tm.Engine, address: str, topic: str, out: str, folder: Path, ticks: int) -> None:
    """Make ticks of a query that copies rows from a topic to another."""
    engine.sql(declared_at(address, topic))
    graph = engine.run(every=None, checkpoint=str(folder))
    try:
        query = engine.sql(ALL).start("kafka", name="all", servers=address, topic=out)
        for _ in range(ticks):
            graph.tick()
        assert query.exception() is None
    finally:
        engine.close()


def killed(point: str, fabric: str, address: str, topic: str, out: str, folder: Path) -> None:
    """Let another process do that, and die."""
    command = [sys.executable, "-m", __name__, point, fabric, address, topic, out, str(folder)]
    root = Path(__file__).parents[3]
    paths = [str(root / "src"), str(root), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    ended = subprocess.run(command, env=env, cwd=root, capture_output=True, text=True, timeout=120)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


def _deadly(work: Callable[..., Any]) -> Callable[..., Any]:
    def done(*arguments: Any, **more: Any) -> None:
        work(*arguments, **more)
        os.kill(os.getpid(), signal.SIGKILL)

    return done


def main(point: str, fabric: str, address: str, topic: str, out: str, folder: str) -> None:
    """Die at a point of the first tick."""
    kind, name = POINTS[point]
    setattr(kind, name, _deadly(getattr(kind, name)))
    copied(tm.Engine(runtime=fabric), address, topic, out, Path(folder), 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
