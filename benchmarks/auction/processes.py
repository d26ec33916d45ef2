"""A process and all below it: their memory, the time they had a core, and their end."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PAUSE = 0.2


@dataclass(frozen=True)
class Usage:
    """Bytes of memory, and seconds of a core, children that have ended included."""

    memory: int
    cpu: float


class Peak:
    """The largest memory that all processes had at the same time, and their seconds of a core.

    Pages that processes share count once for each of them, so memory is rather too high.
    """

    def __init__(self, root: int) -> None:
        self._root = root
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
        # Processes that end unreaped take their time with them.
        self.cpu = max(self.cpu, now.cpu - self._before)


def usage(root: int) -> Usage:
    """What a process and all its descendants use; nothing where there is no /proc."""
    ticks, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    own = _family(root).values()
    memory = sum(int(fields[21]) for fields in own) * page
    return Usage(memory, sum(sum(map(int, fields[11:15])) for fields in own) / ticks)


def kill(root: int) -> None:
    """End a process and all its descendants at once, as they are: nothing is tidied up."""
    for pid in _family(root) or (root,):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _family(root: int) -> dict[int, list[str]]:
    """A process and its descendants, each with the fields of its `stat` behind its name."""
    found: dict[int, list[str]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            found[int(entry.name)] = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
    return {pid: fields for pid, fields in found.items() if _descends(pid, root, found)}


def _descends(pid: int, root: int, found: Mapping[int, list[str]]) -> bool:
    while pid in found and pid != root:
        pid = int(found[pid][1])
    return pid == root and pid in found
