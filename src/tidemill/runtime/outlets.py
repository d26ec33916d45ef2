"""Results that tasks write themselves, where their rows are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

import polars as pl

from tidemill.physical.cut import cut
from tidemill.results import PartWriter, Shape
from tidemill.runtime.parcels import scratch
from tidemill.runtime.reports import Report, TaskFailure
from tidemill.store import Store
from tidemill.timeline import BEGIN


@dataclass(frozen=True)
class ScratchWriter:
    """Leaves rows in files that are needed during a tick, for whoever writes them in the end."""

    store: Store
    query: str
    shape: Shape

    def write(self, rows: pl.DataFrame, tick: int, part: int) -> str | None:
        if not rows.height:
            return None
        name = f"{scratch(tick)}/{quote(self.query, safe='')}-{part:05d}.arrow"
        self.store.put_table(name, self.shape(rows))
        return name


@dataclass(frozen=True)
class Outlet:
    """A query whose rows leave here; it gives none before `since`."""

    query: str
    writer: PartWriter
    since: int = BEGIN


@dataclass(frozen=True)
class Outlets:
    """By the tags of results: who writes them, and which of them the driver wants as well."""

    writers: Mapping[int, Sequence[Outlet]]
    driver: frozenset[int]

    def leave(self, tag: int, rows: pl.DataFrame, tick: int, report: Report) -> bool:
        """Write the rows of a result; whether the driver wants them."""
        for outlet in self.writers.get(tag, ()):
            mine = cut(rows, outlet.since) if outlet.since else rows
            report.rows[outlet.query] = mine.height
            try:
                name = outlet.writer.write(mine, tick, report.part)
            except Exception as error:
                report.unwritten[outlet.query] = TaskFailure.of(error)
                continue
            if name is not None:
                report.written[outlet.query] = name
        return tag in self.driver


NOTHING = Outlets({}, frozenset())
