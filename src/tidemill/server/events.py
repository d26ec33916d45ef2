"""What has happened: queries that come, go and fail, plans and sizes that change."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Mapping

from tidemill.engine.running import RunningGraph
from tidemill.graph.migration import Migration
from tidemill.server.logs import log
from tidemill.wire.graph import EventEntry, EventKind

MOST = 1000
"""So many events are remembered."""


class EventLog:
    """The last events, and how the graph looked when they were sent."""

    def __init__(self) -> None:
        self._kept: deque[EventEntry] = deque(maxlen=MOST)
        self.count = 0
        self._states: dict[str, str] = {}
        self._sizes: Mapping[str, int] = {}
        self._migrations: dict[str, tuple[Migration, bool]] = {}
        self._late: dict[str, int] = {}

    def add(
        self, kind: EventKind, query: str | None, text: str, tick: int, instant: int | None = None
    ) -> None:
        """Remember something that has happened."""
        self.count += 1
        level = logging.ERROR if kind == "fail" else logging.INFO
        log(level, text, event=kind, query=query, tick=tick)
        self._kept.append(
            EventEntry(
                at=round(time.time() * 1000),
                tick=tick,
                kind=kind,
                query=query,
                text=text,
                instant=instant,
            )
        )

    def all(self) -> list[EventEntry]:
        """All that is remembered, the oldest first."""
        return list(self._kept)

    def look(self, graph: RunningGraph) -> None:
        """Find out what has happened since the last look."""
        tick = graph.ticks
        self._look_at_queries(graph, tick)
        self._look_at_sizes(graph, tick)
        self._look_at_migrations(graph, tick)
        self._look_at_late_rows(graph, tick)

    def _look_at_queries(self, graph: RunningGraph, tick: int) -> None:
        kinds: dict[str, EventKind] = {"running": "start", "stopped": "stop", "failed": "fail"}
        for name, query in graph.members.items():
            state = query.state.value
            if self._states.get(name) != state:
                self._states[name] = state
                why = "" if query.error is None else f": {str(query.error).partition(chr(10))[0]}"
                self.add(kinds[state], name, f"{name} is {state}{why}", tick)

    def _look_at_sizes(self, graph: RunningGraph, tick: int) -> None:
        for knob, size in graph.adaptation.sizes.items():
            before = self._sizes.get(knob, size)
            if before != size:
                since = graph.adaptation.all_histories[knob][-1].since
                self.add("adapt", None, f"{knob}: {before} to {size}", tick, since)
        self._sizes = graph.adaptation.sizes

    def _look_at_migrations(self, graph: RunningGraph, tick: int) -> None:
        for name, migration in graph.migrations.of.items():
            known, told = self._migrations.get(name, (None, False))
            if known is not migration:
                told = False
                text = f"{name} goes on with another plan from {migration.split} on"
                self.add("migrate", name, text, tick, migration.split)
            if not migration.is_running and not told:
                told = True
                text = f"{name}: the other plan is {migration.phase.value}"
                self.add("migrated", name, text, tick, migration.split)
            self._migrations[name] = (migration, told)

    def _look_at_late_rows(self, graph: RunningGraph, tick: int) -> None:
        for name, read in graph.sources.items():
            more = read.late_rows - self._late.get(name, 0)
            if more:
                self._late[name] = read.late_rows
                self.add("late", None, f"{more} rows of {name} came too late", tick, read.watermark)
