"""What ticks are to do and have done, written down: a tick that is done again sees the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tidemill.feeds import FileSlice, Slice, from_json, to_json
from tidemill.physical.operator import Exec
from tidemill.runtime import blocks
from tidemill.runtime.operators import NodeProgress
from tidemill.runtime.reports import Failure, Report
from tidemill.runtime.sources import Taken, dumped, loaded
from tidemill.store import Store

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
    broken: Mapping[str, Failure] = field(default_factory=dict)


@dataclass(frozen=True)
class Committed:
    """A tick that is done: how far sources have come, and what its tasks have told."""

    tick: int = -1
    sources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    reports: Sequence[Report] = ()
    native: Mapping[Exec, NodeProgress] = field(default_factory=dict)
    rows_out: Mapping[str, int] = field(default_factory=dict)


class TickLog:
    """The records of ticks in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def begin(self, begun: Begun) -> None:
        """Write down what a tick is to do, before it does anything."""
        record = {
            "tick": begun.tick,
            "arrived": begun.arrived,
            "streams": dumped(begun.streams),
            "relations": _dumped(begun.relations),
            "changes": _dumped(begun.changes),
            "past": {name: list(map(list, parts)) for name, parts in begun.past.items()},
            "broken": {name: asdict(failure) for name, failure in begun.broken.items()},
        }
        self._store.put(f"{_FOLDER}/{begun.tick:012d}.begun", json.dumps(record).encode())

    def withdraw(self, begun: Begun) -> None:
        """A tick was not begun after all."""
        self._store.remove(f"{_FOLDER}/{begun.tick:012d}.begun")

    def commit(self, done: Committed) -> None:
        """Write down that a tick is done."""
        self._store.put(f"{_FOLDER}/{done.tick:012d}.done", *blocks.dump(done))
        for name in (f"{done.tick - _KEPT:012d}.{kind}" for kind in ("begun", "done")):
            self._store.remove(f"{_FOLDER}/{name}")

    def last(self) -> Committed:
        """The last tick that is done."""
        done = [name for name in self._store.names(_FOLDER) if name.endswith(".done")]
        if not done:
            return Committed()
        found: Committed = blocks.load(bytearray(self._store.get(f"{_FOLDER}/{done[-1]}")))
        return found

    def begun(self, tick: int) -> Begun | None:
        """What a tick was to do, if it has begun."""
        name = f"{_FOLDER}/{tick:012d}.begun"
        if not self._store.exists(name):
            return None
        record = json.loads(self._store.get(name))
        streams = loaded(record["streams"])
        relations, changes = _loaded(record["relations"]), _loaded(record["changes"])
        past = {n: [(a, b, c) for a, b, c in parts] for n, parts in record["past"].items()}
        broken = {name: Failure(**failure) for name, failure in record["broken"].items()}
        return Begun(record["tick"], record["arrived"], streams, relations, changes, past, broken)


def _dumped(slices: Mapping[str, Sequence[Slice]]) -> dict[str, list[Any]]:
    return {
        name: [to_json(each) for each in every if isinstance(each, FileSlice)]
        for name, every in slices.items()
    }


def _loaded(slices: Mapping[str, Sequence[Any]]) -> dict[str, list[Slice]]:
    return {name: [from_json(each) for each in every] for name, every in slices.items()}
