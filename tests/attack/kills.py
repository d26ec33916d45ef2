"""Real processes are killed: drivers, servers, and workers and executors of Spark."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from threading import Timer

from tests.attack.tally import Attack, Tally
from tests.conftest import ROOT
from tests.fabrics.test_kills import SCRIPT, Campaign, FilesKind, GraphKind, random_wishes
from tests.server.conftest import BIDS
from tests.server.process import ServerProcess
from tests.spark.test_cluster import test_an_executor_is_killed_and_a_task_fails

KINDS: dict[str, type[FilesKind] | type[GraphKind]] = {"files": FilesKind, "graph": GraphKind}


def drivers(kind: str, fabric: str, most: int) -> Attack:
    """Drivers that are killed at points of a tick, at any write, and at any moment."""

    def attack(tally: Tally, share: float, seed: int) -> None:
        with tempfile.TemporaryDirectory(prefix="tidemill-attack-") as folder:
            campaign = Campaign(kind, fabric, KINDS[kind](Path(folder)), Path(folder))
            wishes = random_wishes(kind, fabric, Random(seed))
            try:
                campaign.killed(wishes, max(1, round(most * share)))
            finally:
                tally.note(times=len(campaign.log))

    return attack


def servers(tally: Tally, share: float, seed: int) -> None:
    """A server that is killed during pushes; rows that were acknowledged are counted."""
    random = Random(seed)
    with tempfile.TemporaryDirectory(prefix="tidemill-attack-") as folder:
        server = ServerProcess(Path(folder), BIDS, "--every", "50 ms")
        counts = _Counts(server.start())
        for _ in range(max(1, round(200 * share))):
            tally.try_("server", lambda: counts.killed(random))
        server.stop()


class _Counts:
    """Pushes one row at an instant, each with an item of its own: every one must be there once."""

    def __init__(self, server: ServerProcess) -> None:
        self._server = server
        self._next = 1
        self._unsure: set[int] = set()
        self._server.run("CREATE QUERY all AS SELECT item FROM bid WINDOW(RANGE UNBOUNDED)")
        self._server.run("START QUERY all")

    def killed(self, random: Random) -> bool:
        """Kill the server at some moment of its pushes, and look at all rows."""
        timer = Timer(random.uniform(0, 0.3), self._server.process.kill)
        timer.start()
        try:
            while True:
                self._unsure.add(self._next)
                self._next += 1
                self._push(self._next - 1)
                self._unsure.discard(self._next - 1)
        except Exception:
            timer.join()
            self._server.process.wait()
        self._server.stop(signal.SIGKILL)
        self._server.start()
        self._push(self._next, wait=True)
        self._next += 1
        self._look()
        return False

    def _push(self, item: int, wait: bool = False) -> None:
        self._server.push("bid", [{"item": item, "price": 1.0, "at": item}], wait=wait)

    def _look(self) -> None:
        last = self._next - 1
        rows = self._server.get("queries/all/snapshot", at=last - 1, limit=100_000)["rows"]
        items = [item for (item,) in rows]
        assert len(items) == len(set(items)), "a row is there twice"
        missing = set(range(1, last)) - set(items) - self._unsure
        assert not missing, f"acknowledged rows are gone: {sorted(missing)[:9]}"


def workers(tally: Tally, share: float, seed: int) -> None:
    """Python workers of Spark, at any moment; the driver goes on, or tells and is started again."""
    random = Random(seed)
    for number in range(max(1, round(30 * share))):
        kind = random.choice(list(KINDS))
        tally.try_(f"worker {number} of {kind}", lambda: _worker(kind, random))  # noqa: B023


def _worker(kind: str, random: Random) -> bool:
    with tempfile.TemporaryDirectory(prefix="tidemill-attack-") as folder:
        run, work = KINDS[kind](Path(folder)), Path(folder) / "round"
        run.prepare(work)
        told, said = False, None
        for attempt in range(9):
            said = _driven(kind, work, random.uniform(0, 8) if not attempt else None)
            if said is not None:
                break
            told = True
        assert said is not None, "it never comes to its end"
        run.check(work, said)
        return told


def _driven(kind: str, work: Path, kill_after: float | None) -> str | None:
    """Start a driver, and perhaps kill a worker; what it said, if it came to its end."""
    paths = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    driver = subprocess.Popen(
        [sys.executable, str(SCRIPT), kind, "spark", str(work), "", ""],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    if kill_after is not None:
        _kill_a_worker(driver, kill_after)
    said, _ = driver.communicate(timeout=600)
    return said if driver.returncode == 0 else None


def _kill_a_worker(driver: subprocess.Popen[str], seconds: float) -> None:
    """Wait for the first worker and so long, and kill the newest."""
    until: float | None = None
    while driver.poll() is None:
        found = list(_workers(driver.pid))
        if found and until is None:
            until = time.monotonic() + seconds
        if found and until is not None and time.monotonic() >= until:
            os.kill(found[-1], signal.SIGKILL)
            return
        time.sleep(0.02)


def _workers(group: int) -> Iterator[int]:
    for path in Path("/proc").glob("[0-9]*"):
        try:
            is_worker = b"pyspark" in (path / "cmdline").read_bytes()
            if is_worker and os.getpgid(int(path.name)) == group and int(path.name) != group:
                yield int(path.name)
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended meanwhile


def executors(tally: Tally, share: float, seed: int) -> None:
    """Executors in processes of their own, one of which is killed in the middle."""
    for number in range(max(1, round(8 * share))):
        with tempfile.TemporaryDirectory(prefix="tidemill-attack-") as folder:
            place = Path(folder)
            tally.try_(
                f"executor {number}",
                lambda: bool(test_an_executor_is_killed_and_a_task_fails(place)),  # noqa: B023
            )
