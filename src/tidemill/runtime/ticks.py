"""What ticks are to do and have done, written down: a tick that is done again sees the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tidemill.connectors.feeds import FileSlice, Slice, kept_json, kept_slice
from tidemill.errors import ExecutionError
from tidemill.physical.operator import Exec
from tidemill.runtime import codec
from tidemill.runtime.operator_progress import OperatorProgress
from tidemill.runtime.reports import TaskFailure, TaskReport
from tidemill.runtime.sources import Taken, dumped, loaded
from tidemill.store import Numbered, Store

_FOLDER = "ticks"
_KEPT = 2
"""Ticks whose records are kept: the last one is needed."""


@dataclass(frozen=True)
class Begun:
    """A tick that begins: what it takes of streams, by name.

    `arrived` is the time on the clock. Whoever begins with this tick reads `relations`, and `past`
    slices of streams (from, to, and the watermark that they had); `changes` are for all. Sources
    that are `broken` bring nothing, and queries that read them fail.
    """

    tick: int
    arrived: int
    streams: Mapping[str, Taken] = field(default_factory=dict)
    relations: Mapping[str, Sequence[Slice]] = field(default_factory=dict)
    changes: Mapping[str, Sequence[Slice]] = field(default_factory=dict)
    past: Mapping[str, Sequence[tuple[int, int, int]]] = field(default_factory=dict)
    broken: Mapping[str, TaskFailure] = field(default_factory=dict)


@dataclass(frozen=True)
class Committed:
    """A tick that is done: how far sources have come, and the reports of its tasks.

    The epoch that it went by is named by its first tick.
    """

    tick: int = -1
    epoch: int = -1
    sources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    reports: Sequence[TaskReport] = ()
    native: Mapping[Exec, OperatorProgress] = field(default_factory=dict)
    rows_out: Mapping[str, int] = field(default_factory=dict)


def refuse_late(store: Store, tick: int) -> None:
    """Fail if a tick is done: a task that was lost, or done twice, may come long after that."""
    last = f"{tick:012d}.done"
    if any(name >= last for name in store.names(_FOLDER) if name.endswith(".done")):
        raise ExecutionError(f"tick {tick} is done: this task comes too late")


class TickLog:
    """The records of ticks in a store; the functions of users are those that are `known`."""

    def __init__(self, store: Store, known: codec.KnownFunctions | None = None) -> None:
        self._store = store
        self._begun = Numbered(store, _FOLDER, ".begun", keep_last=True)
        self._done = Numbered(store, _FOLDER, ".done", keep_last=True)
        self._known = known

    def begin(self, begun: Begun) -> None:
        """Write down what a tick is to do, before it does anything; its rows are there before."""
        record = {
            "tick": begun.tick,
            "arrived": begun.arrived,
            "streams": dumped(begun.streams),
            "relations": self._dumped(begun.relations),
            "changes": self._dumped(begun.changes),
            "past": {name: list(map(list, parts)) for name, parts in begun.past.items()},
            "broken": {name: asdict(failure) for name, failure in begun.broken.items()},
        }
        self._store.flush()
        with self._store.committing():
            self._begun.put(begun.tick, json.dumps(record).encode())

    def withdraw(self, begun: Begun) -> None:
        """A tick was not begun after all."""
        self._begun.remove_from(begun.tick)

    def commit(self, done: Committed) -> None:
        """Write down that a tick is done; what it has written is there before."""
        self._store.flush()
        with self._store.committing():
            self._done.put(done.tick, *codec.dump(done))
            for files in (self._begun, self._done):
                files.remove_before(done.tick + 1 - _KEPT)

    def last(self) -> Committed:
        """The last tick that is done."""
        if not self._done.numbers:
            return Committed()
        return self.read(self._store, self._done.numbers[-1], self._known)

    @staticmethod
    def read(store: Store, tick: int, known: codec.KnownFunctions | None = None) -> Committed:
        """What a tick has left that is done."""
        found: Committed = codec.read(store, f"{_FOLDER}/{tick:012d}.done", known)
        return found

    def begun(self, tick: int) -> Begun | None:
        """What a tick was to do, if it has begun."""
        if tick not in self._begun.numbers:
            return None
        record = json.loads(self._begun.get(tick))
        streams = loaded(record["streams"])
        relations, changes = self._loaded(record["relations"]), self._loaded(record["changes"])
        past = {n: [(a, b, c) for a, b, c in parts] for n, parts in record["past"].items()}
        broken = {name: TaskFailure(**failure) for name, failure in record["broken"].items()}
        return Begun(record["tick"], record["arrived"], streams, relations, changes, past, broken)

    def _dumped(self, slices: Mapping[str, Sequence[Slice]]) -> dict[str, list[Any]]:
        return {
            name: [kept_json(each, self._store) for each in every if isinstance(each, FileSlice)]
            for name, every in slices.items()
        }

    def _loaded(self, slices: Mapping[str, Sequence[Any]]) -> dict[str, list[Slice]]:
        return {
            name: [kept_slice(each, self._store) for each in every]
            for name, every in slices.items()
        }
