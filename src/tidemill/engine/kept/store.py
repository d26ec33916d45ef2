"""The answers of all queries of an engine that keep theirs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import polars as pl

from tidemill.connectors.sinks import SinkRequest
from tidemill.engine.kept.log import LOST, AnswerLog, KeptEntry
from tidemill.engine.kept.results import KeptResults
from tidemill.engine.query import Query
from tidemill.errors import DamageError
from tidemill.store import Durability

if TYPE_CHECKING:
    from tidemill.engine.running import RunningGraph


class KeptStore:
    """Keeps at most `rows` rows for each query; in a `folder`, they survive the process."""

    def __init__(
        self,
        rows: int,
        folder: str | Path | None = None,
        durability: Durability = "process",
    ) -> None:
        self._rows = rows
        self._kept: dict[str, KeptResults] = {}
        self._folder = folder
        self._log = None if folder is None else AnswerLog(str(folder), durability)
        self._lock = Lock()
        self._news: list[tuple[str, KeptEntry, pl.DataFrame | None]] = []
        self._left: dict[str, list[tuple[KeptEntry, pl.DataFrame | None]]] = {}
        self._was_lost = False
        for name, entry, left in () if self._log is None else self._log.entries():
            self._was_lost |= name == LOST
            if entry.anew:
                self._left[name] = []
            self._left.setdefault(name, []).append((entry, left))

    def sink(self, name: str, query: Query) -> SinkRequest:
        """The sink of a query: what was kept under its name is there already."""
        key = name.casefold()
        note = partial(self._note, key)
        planned = query.planned
        kept = KeptResults(query.schema, planned.domain, self._rows, note, planned.order)
        if key in self._kept:  # it gets another definition
            kept.restore(*self._kept[key].whole())
        for entry, rows in self._left.pop(key, ()):
            kept.restore(entry, rows)
        self._kept[key] = kept
        return SinkRequest(kept, form="live")

    def redefine(self, name: str, query: Query) -> None:
        """Take note that a query asks for something else."""
        if (kept := self.of(name)) is not None:
            # Another definition may name the columns otherwise; what is kept has the old names.
            names = dict(zip(query.schema.names, kept.schema.names, strict=True))
            kept.order = tuple(
                replace(key, column=names[key.column]) for key in query.planned.order
            )

    def of(self, name: str) -> KeptResults | None:
        """The answer of a query that keeps it."""
        return self._kept.get(name.casefold())

    def begin(self, name: str) -> None:
        """Forget what an earlier run of a query has left."""
        if (kept := self.of(name)) is not None:
            kept.clear()

    def forget(self, name: str) -> None:
        """Delete the answer of a query that is no more."""
        if (kept := self._kept.pop(name.casefold(), None)) is not None:
            kept.clear()

    def complete(self, graph: RunningGraph) -> None:
        """After a tick, tell everyone how far the answers have come."""
        for name in graph.running:
            self._complete(name, graph)

    def go_on(self, name: str, graph: RunningGraph) -> None:
        """After a restart, answers have to be those that the graph has given."""
        kept = self.of(name)
        if kept is not None and self._log is not None:
            is_lost = not kept.given and graph.rows_out(name) > 0
            if is_lost and not self._was_lost:
                raise DamageError(f"{self._folder}/answers", f"the answers of `{name}` are missing")
            self._complete(name, graph)
            if is_lost:
                kept.kept_from = kept.complete_until

    def _complete(self, name: str, graph: RunningGraph) -> None:
        kept, root = self.of(name), graph.running[name].root
        if kept is not None and (done := graph.operators.get(root.running)) is not None:
            kept.complete(done.watermark)

    def write(self) -> None:
        """Before a tick is committed, write down what it has brought.

        How far answers have come is written along with rows: for queries that run, the graph
        knows it, too.
        """
        if self._log is not None and any(rows is not None for _, _, rows in self._news):
            self._write(self._log)
            if self._log.is_long:
                kept = list(self._kept.items())
                self._log.replace([(name, *each.whole()) for name, each in kept])

    def close(self) -> None:
        """Write down what is left."""
        if self._log is not None and self._news:
            self._write(self._log)

    def _write(self, log: AnswerLog) -> None:
        news = list(self._news)
        log.add(news)
        with self._lock:
            del self._news[: len(news)]

    def _note(self, name: str, entry: KeptEntry, rows: pl.DataFrame | None) -> None:
        with self._lock:
            if self._log is not None:
                self._news.append((name, entry, rows))
