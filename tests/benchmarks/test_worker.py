"""Systems in processes of their own: answers, failures, and what is over the limit."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.auction.processes import usage
from benchmarks.auction.worker import Request, Worker, WorkerFailed

SYSTEM = """
import os, subprocess, sys, time

def handle(request):
    query = request["query"]
    if query == "fails":
        raise ValueError("it cannot")
    if query == "dies":
        print("the last word", file=sys.stderr)
        os._exit(3)
    if query == "hangs":
        child = subprocess.Popen(["sleep", "600"])
        open(request["file"], "w").write(str(child.pid))
        child.wait()
    if query == "waits":
        time.sleep(600)
    if query == "prints":
        print("not an answer")
    return {"seconds": 1.5, "cores": len(os.sched_getaffinity(0))}
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], Worker]]:
    file = tmp_path / "system.py"
    file.write_text(SYSTEM)
    workers: list[Worker] = []

    def make() -> Worker:
        workers.append(Worker(str(file), 1))
        return workers[-1]

    yield make
    for worker in workers:
        worker.close()


def request(query: str, file: str = "") -> Request:
    return Request("run", query, "", 1, file=file)


def test_it_answers_whatever_it_prints(start: Callable[[], Worker]) -> None:
    worker = start()
    for query in ("works", "prints", "works"):
        reply = worker.ask(request(query))
        assert reply.content["cores"] == 1
        assert reply.spent.seconds == 1.5
        assert reply.spent.memory > 0
        assert not reply.over


def test_failures_say_why(start: Callable[[], Worker]) -> None:
    worker = start()
    with pytest.raises(WorkerFailed, match="it cannot"):
        worker.ask(request("fails"))
    assert worker.ask(request("works")).content["seconds"] == 1.5
    with pytest.raises(WorkerFailed, match="the last word"):
        worker.ask(request("dies"))
    with pytest.raises(WorkerFailed, match="the last word"):
        worker.ask(request("works"))


def test_over_the_limit_all_its_processes_end(start: Callable[[], Worker], tmp_path: Path) -> None:
    worker, file = start(), tmp_path / "child"
    worker.ask(request("works"))
    reply = worker.ask(request("hangs", str(file)), limit=1.0)
    assert reply.over
    assert reply.spent.seconds == 1.0
    _until(lambda: not _lives(int(file.read_text())))


def test_it_ends_with_the_benchmark(tmp_path: Path) -> None:
    (tmp_path / "system.py").write_text(SYSTEM)
    file = tmp_path / "worker"
    script = f"""
from benchmarks.auction.worker import Request, Worker
worker = Worker({str(tmp_path / "system.py")!r}, 1)
worker.ask(Request("run", "works", "", 1))
open({str(file)!r}, "w").write(str(worker._process.pid))
worker.ask(Request("run", "waits", "", 1))
"""
    benchmark = subprocess.Popen([sys.executable, "-c", script])
    try:
        _until(lambda: file.exists() and file.read_text() != "")
    finally:
        benchmark.kill()
        benchmark.wait()
    _until(lambda: not _lives(int(file.read_text())))


def test_usage_of_this_process() -> None:
    assert usage(os.getpid()).memory > 1 << 20
    assert usage(os.getpid()).cpu > 0


def _until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
