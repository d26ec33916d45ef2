"""What goes on after a restart: runs that were killed, or stopped, also with other partitions."""

from __future__ import annotations

import inspect
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa

from tests.matrix.cells import Capability, Case, Group, Refusal
from tests.matrix.data import ANSWER, BID, FAR, FIRST, HOT, bids, merged
from tests.matrix.ways import WAYS, Asked, Row, Server, Setup, Way, in_order
from tests.server.process import ServerProcess
from tidemill.engine.query import Query

MORE = bids((1, 40, 7), (3, 10, 8))
WHOLE = [(1, 1, 3, 5), (1, 1, 9, 11), (1, 2, 5, 9), (2, 1, 6, 10), (3, 1, 8, 12)]
"""The answer about the first bids and those after the restart."""


class Notes:
    """A sink that writes every tick down, and dies, once, in the middle of one.

    Who takes a tick twice has it once: its number is the name of its file.
    """

    def __init__(self, folder: Path, deadly: bool = False) -> None:
        self._folder = folder
        self._deadly = deadly
        folder.mkdir(exist_ok=True)

    def __call__(self, table: pa.Table, tick: int) -> None:
        rows = [list(row.values()) for row in table.to_pylist()]
        (self._folder / f"{tick}.json").write_text(json.dumps(rows))
        if self._deadly:
            os.kill(os.getpid(), signal.SIGKILL)

    def rows(self) -> list[Row]:
        """All that was given."""
        ticks = [json.loads(file.read_text()) for file in self._folder.glob("*.json")]
        return sorted(tuple(row) for tick in ticks for row in tick)


def _begun(way: Way, notes: Notes) -> None:
    way.declare(BID)
    way.ask(hot=Asked(HOT, notes))


def killed(case: Case) -> None:
    """Another process dies while it gives its answers away; this one goes on."""
    if case.way is Server:
        _server_killed(case)
        return
    _dies(case)
    notes = Notes(case.folder / "notes")
    assert notes.rows() == [(1, 1, 3, 5)]
    with case.open(checkpoint=case.folder / "state") as way:
        _begun(way, notes)
        way.push("bid", MORE)
        way.settle()
        way.beat("bid", FAR)
        way.settle()
        assert way.error("hot") is None
        assert merged(notes.rows()) == WHOLE


def _dies(case: Case) -> None:
    command = [sys.executable, "-m", __name__, case.way.name, case.fabric, str(case.folder)]
    root = Path(__file__).parents[2]
    paths = [str(root / "src"), str(root), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    ended = subprocess.run(command, env=env, cwd=root, capture_output=True, text=True, timeout=120)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


def _server_killed(case: Case) -> None:
    script = f"{BID}; CREATE QUERY hot AS {HOT}; START QUERY hot"
    server = ServerProcess(
        case.folder, script, "--runtime", case.fabric, "--every", "20 ms", patience=90
    )
    try:
        server.start()
        server.push("bid", FIRST, wait=True)
        server.stop(signal.SIGKILL)
        server.start()
        server.push("bid", MORE, wait=True)
        server.push("bid", bids((9, 0, FAR)), wait=True)
        told = server.get("queries/hot/results", to=FAR)
        ends = zip(told["rows"], told["valid_from"], told["valid_to"], strict=True)
        assert sorted((*row, *when) for row, *when in ends) == WHOLE
    finally:
        if server.is_running:
            server.stop()


def stopped(case: Case) -> None:
    """The same within a process; a query that is known is told from one that is not."""
    for number, rows in enumerate((FIRST, MORE)):
        with case.open(checkpoint=case.folder / "state") as way:
            again(way, case.folder / "hot", is_new=number == 0)
            way.push("bid", rows)
            way.settle()
            if number:
                way.beat("bid", FAR)
                way.settle()
            assert way.error("hot") is None
    assert merged(_files(case.folder / "hot")) == WHOLE


def again(way: Way, folder: Path, is_new: bool) -> None:
    """Ask for the query; a server knows by itself what it was asked for."""
    if is_new or not isinstance(way, Server):
        way.declare(BID)
        way.ask(hot=Asked(HOT, "parquet", None, {"path": str(folder)}))


def _files(folder: Path) -> list[Row]:
    import pyarrow.parquet as pq

    parts = [str(part) for part in folder.glob("tick=*/part-*")]
    tables = [pq.ParquetFile(part).read() for part in parts]
    return in_order(pa.concat_tables(tables))


def resized(case: Case) -> None:
    """What was remembered in three parts goes on wherever there are two, or four."""
    for partitions, rows in ((3, FIRST), (4, bids((1, 40, 7))), (2, bids((3, 10, 8)))):
        with case.open(checkpoint=case.folder / "state", partitions=partitions) as way:
            again(way, case.folder / "hot", is_new=rows is FIRST)
            way.push("bid", rows)
            way.settle()
            if partitions == 2:
                way.beat("bid", FAR)
                way.settle()
            assert way.error("hot") is None
    assert merged(_files(case.folder / "hot")) == WHOLE


def begins_anew(case: Case) -> None:
    assert "checkpoint" not in inspect.signature(Query.collect).parameters
    for _ in range(2):
        with case.open() as way:
            way.declare(BID)
            way.ask(hot=HOT)
            way.push("bid", FIRST)
            assert way.rows("hot") == ANSWER


ANEW = Refusal(
    "`collect()` has no checkpoint: it reads all of its input from the start. "
    "`q.start(…, available_now=True, checkpoint=…)` can be interrupted.",
    begins_anew,
)

RESTARTS = Group(
    "Restarts",
    (
        Capability("restart after a kill", killed, {"collect": ANEW}),
        Capability("stop and restart", stopped, {"collect": ANEW}, sample="several"),
        Capability("restart with other partitions", resized, {"collect": ANEW}),
    ),
)


def main() -> None:
    """Begin, and die in the first tick that has answers: `python -m … WAY FABRIC FOLDER`."""
    name, fabric, folder = sys.argv[1:]
    session = None
    if fabric == "spark":
        from tidemill.runtime.spark.session import _local_session

        session = _local_session("2")
    (kind,) = (way for way in WAYS if way.name == name)
    way = kind(Setup(fabric, Path(folder), session, checkpoint=Path(folder) / "state"))
    _begun(way, Notes(Path(folder) / "notes", deadly=True))
    way.push("bid", FIRST)
    way.until(lambda: way.error("hot") is not None)  # which it will not live to see


if __name__ == "__main__":
    main()
