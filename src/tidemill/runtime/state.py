"""What the operators of a stage remember in a partition: in memory, and on disk.

After every tick a partition writes one file: a snapshot of its operators, or the rows that the
tick brought, from which the operators can be run again. Snapshots are written when half as many
bytes of rows have gathered as a snapshot has, so that writing costs in proportion to what came in.
Files are named by the tick, so that doing a tick again changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from tidemill.errors import DamageError
from tidemill.runtime import codec
from tidemill.runtime.operators import Given
from tidemill.runtime.parcels import with_ends, without_ends
from tidemill.runtime.reports import News
from tidemill.store import Part, Store

_KEPT_TICKS = 4
"""How long operators stay in the memory of a worker that does not get their partition."""

_KEPT_SECONDS = 600.0
"""How long those of another run do, which may have ended elsewhere."""

_CACHE: dict[str, tuple[int, Any, float]] = {}
"""Operators that this process still has in memory: the tick they stand at, they, and since when."""

_SNAPSHOT, _ROWS = "snapshot", "rows"
_FOLDER = "state"


@dataclass(frozen=True)
class TickRows:
    """What a tick brought to a stage: rows and watermarks by exchange, and what operators heard.

    In a file, rows that all hold equally long have no ends; `lasts` tells how long, by exchange.
    Rows that leave no trace in what operators remember are not there; then `given` tells, by the
    number of the operator, what all have given, which these rows were part of.
    """

    rows: Mapping[int, pl.DataFrame]
    marks: Mapping[int, int]
    news: News
    lasts: Mapping[int, int] = field(default_factory=dict)
    given: Given = field(default_factory=dict)


@dataclass(frozen=True)
class Segment:
    """One file: the tick it belongs to, and what it is."""

    tick: int
    kind: str
    name: str


class StageState:
    """One stage in one partition, of a `run`; without a `store`, it is in memory only."""

    def __init__(self, store: Store | None, level: int, partition: int, run: str) -> None:
        self._store = store
        self._folder = folder_of_state(level, partition)
        self._run = run
        # What an earlier run left in memory may not be what is on disk now.
        self._key = f"{run}/{level}/{partition}"

    @property
    def is_durable(self) -> bool:
        return self._store is not None

    def cached(self, tick: int) -> tuple[int, Any]:
        """Operators that this process has, and the tick after which they stood, up to this one.

        They are handed over: if the next tick fails, they must not be used again.
        """
        at, operators, _ = _CACHE.pop(self._key, (-1, None, 0.0))
        # Other workers have gone on with partitions that were here before. They may come back.
        now = time.monotonic()
        for key, (old, _, since) in list(_CACHE.items()):
            own = key.startswith(f"{self._run}/")
            if old < tick - _KEPT_TICKS if own else now - since > _KEPT_SECONDS:
                del _CACHE[key]
        return (at, operators) if at <= tick else (-1, None)

    def lent(self, tick: int) -> Any:
        """Operators that several stages take over in memory: they stay as they are after a tick
        until all have what they want of them; None unless they are to be asked for."""
        key = f"{self._key}/lent"
        at, operators, _ = _CACHE.get(key, (-1, None, 0.0))
        return operators if at == tick else None

    def lend(self, tick: int, operators: Any) -> None:
        """Let several stages take over these operators."""
        _CACHE[f"{self._key}/lent"] = (tick, operators, time.monotonic())

    def remember(self, tick: int, operators: Any) -> None:
        """Keep operators in memory, as they stand after a tick."""
        _CACHE[self._key] = (tick, operators, time.monotonic())

    def history(self, tick: int, known: int = -1) -> tuple[Segment | None, list[Segment]]:
        """The newest snapshot up to a tick, and the rows of the ticks after it.

        What was before the tick `known` is not needed.
        """
        return self._history(self._segments(), tick, known)

    def _history(
        self, segments: Sequence[Segment], tick: int, known: int = -1
    ) -> tuple[Segment | None, list[Segment]]:
        segments = [segment for segment in segments if segment.tick <= tick]
        snapshots = [s for s in segments if s.kind == _SNAPSHOT and s.tick > known]
        base = snapshots[-1] if snapshots else None
        start = known if base is None else base.tick
        rows = [s for s in segments if s.kind == _ROWS and s.tick > start]
        if [segment.tick for segment in rows] != list(range(start + 1, tick + 1)):
            found = {segment.tick for segment in rows}
            lost = next(each for each in range(start + 1, tick + 1) if each not in found)
            assert self._store is not None
            path = self._store.path(f"{self._folder}/{lost:012d}.{_ROWS}")
            raise DamageError(path, f"it is missing, and there is no {_SNAPSHOT} from then on")
        return base, rows

    def read_snapshot(self, segment: Segment, into: Any = None) -> Any:
        """What operators remember, in the operators of `into`, which are fresh."""
        assert self._store is not None
        return codec.read(self._store, segment.name, into=into)

    def read_rows(self, segment: Segment) -> TickRows:
        """What a tick brought."""
        assert self._store is not None
        found: TickRows = codec.read(self._store, segment.name)
        rows = {tag: with_ends(rows, found.lasts.get(tag)) for tag, rows in found.rows.items()}
        return replace(found, rows=rows, lasts={})

    def write_snapshot(self, tick: int, state: Any) -> None:
        """Store what the operators remember."""
        self._write(tick, _SNAPSHOT, codec.dump(state))

    def write_rows(self, tick: int, brought: TickRows) -> None:
        """Store what a tick brought."""
        pairs = {tag: without_ends(rows) for tag, rows in brought.rows.items()}
        rows = {tag: rows for tag, (rows, _) in pairs.items()}
        lasts = {tag: lasts for tag, (_, lasts) in pairs.items() if lasts is not None}
        news = {number: dict(told) for number, told in brought.news.items()}
        marks = dict(brought.marks)
        written = replace(brought, rows=rows, marks=marks, news=news, lasts=lasts)
        self._write(tick, _ROWS, codec.dump(written))

    def size_since(self, tick: int) -> tuple[int, int]:
        """The bytes of the last snapshot, and of the rows after it."""
        assert self._store is not None
        base, rows = self.history(tick)
        snapshot = 0 if base is None else self._store.size(base.name)
        return snapshot, sum(self._store.size(segment.name) for segment in rows)

    def settle(self) -> None:
        """What was written is as durable as the commit of the tick will be."""
        if self._store is not None:
            self._store.settle()

    def forget_before(self, tick: int) -> None:
        """Delete files that no later tick can need."""
        assert self._store is not None
        segments = self._segments()
        base, _ = self._history(segments, tick)
        for segment in segments:
            if base is not None and segment.tick < base.tick:
                self._store.remove(segment.name)

    def _segments(self) -> list[Segment]:
        if self._store is None:
            return []
        found = []
        for name in self._store.names(self._folder):
            stem, _, kind = name.partition(".")
            if kind in (_SNAPSHOT, _ROWS):
                found.append(Segment(int(stem), kind, f"{self._folder}/{name}"))
        return found

    def _write(self, tick: int, kind: str, parts: Sequence[Part]) -> None:
        assert self._store is not None
        name = self._name(tick, kind)
        # The commit of the tick syncs it; nothing relies on it before that. But another attempt
        # may have written it, and the tick may be committed at this very moment.
        self._store.put(name, *parts, later=not self._store.exists(name))
        if kind == _SNAPSHOT and self._store.exists(self._name(tick, _ROWS)):
            self._store.remove(self._name(tick, _ROWS))

    def has_snapshot(self, tick: int) -> bool:
        """Whether another attempt at a tick has written one: rows beside it would not count."""
        return self._store is not None and self._store.exists(self._name(tick, _SNAPSHOT))

    def _name(self, tick: int, kind: str) -> str:
        return f"{self._folder}/{tick:012d}.{kind}"


def forget_undone(store: Store, tick: int) -> None:
    """Delete what ticks after this one have left, which will be done again or were never done.

    Only the start of a run does that: a task may come so late that its tick is long over.
    """
    for stage in store.names(_FOLDER):
        for partition in store.names(f"{_FOLDER}/{stage}"):
            folder = f"{_FOLDER}/{stage}/{partition}"
            for name in store.names(folder):
                if name.partition(".")[0] > f"{tick:012d}" or tick < 0:
                    store.remove(f"{folder}/{name}")


def folder_of_state(level: int, partition: int) -> str:
    """Where a stage has its files in a partition."""
    return f"{_FOLDER}/stage={level}/partition={partition}"


def forget(run: str) -> None:
    """Let go of everything that a run has in the memory of this process."""
    for key in [key for key in _CACHE if key.startswith(f"{run}/")]:
        del _CACHE[key]
