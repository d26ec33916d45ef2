"""A process and all below it: their memory, and the time they had a core."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_PAUSE = 0.2


@dataclass(frozen=True)
class Usage:
    """Bytes of memory, and seconds of a core, children that have ended included."""

    memory: int
    cpu: float


class Peak:
    """The largest memory that all processes had at the same time, and their seconds of a core."""

    def __init__(self, root: int | None = None) -> None:
        self._root = os.getpid() if root is None else root
        self.memory = 0
        self.cpu = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Peak:
        self._before = usage(self._root).cpu
        self._thread.start()
        return self

    def __exit__(self, *reason: object) -> None:
        self._ended.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._ended.wait(_PAUSE):
            self._look()

    def _look(self) -> None:
        now = usage(self._root)
        self.memory = max(self.memory, now.memory)
        self.cpu = now.cpu - self._before


def usage(root: int) -> Usage:
    """What a process and all its descendants use; nothing where there is no /proc."""
    parents, found = {}, {}
    ticks, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        parents[int(entry.name)] = int(fields[1])
        found[int(entry.name)] = (int(fields[21]) * page, sum(map(int, fields[11:15])) / ticks)
    own = [used for pid, used in found.items() if _descends(pid, root, parents)]
    return Usage(sum(memory for memory, _ in own), sum(cpu for _, cpu in own))


def _descends(pid: int, root: int, parents: Mapping[int, int]) -> bool:
    while pid in parents and pid != root:
        pid = parents[pid]
    return pid == root
