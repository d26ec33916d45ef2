"""All relations of a run that change: their rows join those of streams in every tick."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Event, Thread

import polars as pl
from pyspark.sql import DataFrame

from tidemill.changes import DELETED, INSERTED
from tidemill.runtime.spark.checkpoint import Checkpoint
from tidemill.runtime.spark.following import Following
from tidemill.runtime.spark.inputs import Inputs, SourceRows
from tidemill.runtime.spark.reading import Reader
from tidemill.runtime.spark.tick import Marks
from tidemill.timeline import BEGIN, OPEN_END

_PAUSE = 1.0
"""Seconds between two looks at tables outside for changes, while no tick does."""


class Changing:
    """Follows relations, by the name of the source."""

    def __init__(self, reader: Reader, inputs: Inputs, checkpoint: Checkpoint) -> None:
        self._reader = reader
        self._inputs = inputs
        self._sources = [source for source in reader.sources if source.is_changing]
        self._has_streams = any(source.has_time for source in reader.sources)
        self.relations: Mapping[str, Following] = {
            source.name: _following(checkpoint, reader, source) for source in self._sources
        }
        self._ended = Event()

    def __bool__(self) -> bool:
        return bool(self.relations)

    def join(self, batch: DataFrame, tick: int, marks: Marks) -> tuple[DataFrame, Marks]:
        """The rows of a tick with what has changed, and its watermarks.

        Changes count from after all rows that streams have brought, so that what these have found
        stays right. Without a stream, every tick that brings changes is an instant.
        """
        for source in self._sources:
            rows = self.relations[source.name].take(tick, _after(marks.newest))
            if rows.height:
                batch = batch.union(
                    self._inputs.of_edges(source, self._reader.changes(source, rows))
                )
            if not self._has_streams:
                marks = replace(marks, newest=_newest(marks.newest, rows))
        known = dict.fromkeys(self.relations, _after(marks.newest))
        return batch, replace(marks, sources={**marks.sources, **known})

    def listen(self, wake: Callable[[], None]) -> None:
        """Make ticks when something has changed."""
        for relation in self.relations.values():
            relation.listen(wake)
        polled = [relation for relation in self.relations.values() if relation.is_polled]
        if polled:
            watch = Thread(target=self._watch, args=(polled, wake), daemon=True)
            watch.name = "tidemill-changes"
            watch.start()

    def close(self) -> None:
        """Follow no more."""
        self._ended.set()
        for relation in self.relations.values():
            relation.close()

    def _watch(self, relations: Sequence[Following], wake: Callable[[], None]) -> None:
        while not self._ended.wait(_PAUSE):
            if any(relation.look() for relation in relations):
                wake()


def _following(checkpoint: Checkpoint, reader: Reader, source: SourceRows) -> Following:
    origin = reader.origin(source)
    assert origin.changes is not None
    return Following(checkpoint, source.name, origin.info.schema, origin.changes)


def _after(newest: int | None) -> int:
    return BEGIN if newest is None else newest + 1


def _newest(known: int | None, rows: pl.DataFrame) -> int | None:
    """The newest instant at which anything was inserted or deleted."""
    ends = rows[DELETED].filter(rows[DELETED] < OPEN_END)
    found = [known, rows[INSERTED].max(), ends.max()]
    return max((at for at in found if isinstance(at, int)), default=None)
