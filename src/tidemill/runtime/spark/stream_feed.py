"""Streams that only Spark can read: its batches become segments in the store.

One streaming query per stream writes them, each batch once: a batch that Spark does again is known
by its number. Ticks read the segments like all others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from threading import Condition, Lock
from uuid import uuid4

import pyarrow as pa
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from tidemill.connectors.feeds import (
    Feed,
    FileSlice,
    Slice,
    folder_of,
    kept_json,
    kept_slice,
    stored_slice,
)
from tidemill.connectors.feeds.feed import MOST_BYTES, within
from tidemill.errors import DamageError
from tidemill.runtime.spark.failures import SPARK_ERRORS, explained
from tidemill.store import Numbered, Store

_MOST_WAITING = 256
"""Slices that wait for ticks (or multiples of the bytes of a tick) before Spark stops reading."""


@dataclass(frozen=True)
class _Segments:
    """Writes the rows of a partition to the store."""

    store: Store
    folder: str
    batch: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = list(batches)
        if not sum(part.num_rows for part in parts):
            return
        table = pa.Table.from_batches(parts)
        name = f"{self.folder}/{self.batch:012d}-{uuid4().hex}.arrow"
        self.store.put_table(name, table)
        rows, size = [table.num_rows], [table.nbytes]
        yield pa.record_batch([[name], rows, size], names=["name", "rows", "size"])


class StreamFeed(Feed):
    """The segments of a stream of Spark; `frame` is asked for when it is first read.

    If it is `bounded`, Spark reads what is there and ends.
    """

    def __init__(
        self, name: str, frame: Callable[[], DataFrame], store: Store, bounded: bool = False
    ) -> None:
        super().__init__(name)
        self._frame = frame
        self._store = store
        self._bounded = bounded
        self._folder = f"{folder_of(name)}/spark"
        self._files = Numbered(
            store, f"{self._folder}/batches", ".json", sparse=True, keep_last=True
        )
        self._query: StreamingQuery | None = None
        self._starting = Lock()
        self._moved = Condition()
        self._closed = False
        self._batches: dict[int, int] = {}
        self._first, self._slices = 0, list[Slice]()
        self._taken = 0
        self._load()

    def _load(self) -> None:
        """Find the batches that are there already."""
        for number in self._files.numbers:
            known = json.loads(self._files.get(number))
            if not self._batches:
                self._first = self._taken = known["first"]
            if known["first"] != self._first + len(self._slices):
                raise DamageError(self._store.path(self._files.file(number)), "one before is gone")
            self._batches[number] = known["first"]
            self._slices += [kept_slice(each, self._store) for each in known["slices"]]

    def poll(self) -> int:
        with self._starting:  # whoever waits for rows, and the ticks
            if self._query is None and not self._closed:
                self._start()
        self._raise()
        return self._first + len(self._slices)

    def _start(self) -> None:
        writer = self._frame().writeStream.foreachBatch(self._take)
        checkpoint = f"{self._store.uri}/{self._folder}/checkpoint"
        trigger = {"availableNow": True} if self._bounded else {"processingTime": "0 seconds"}
        try:
            self._query = writer.option("checkpointLocation", checkpoint).trigger(**trigger).start()
        except SPARK_ERRORS as error:
            raise explained(error) from error

    def _take(self, rows: DataFrame, batch: int) -> None:
        """Keep a batch, unless it is known; then wait until ticks have caught up."""
        if batch in self._batches:
            return
        ddl = "name STRING, rows BIGINT, size BIGINT"
        task = _Segments(self._store, self._folder, batch)
        found = sorted(rows.mapInArrow(task, ddl).collect(), key=lambda row: str(row["name"]))
        slices = [
            stored_slice(self._store, each["name"], each["rows"], each["size"]) for each in found
        ]
        first = self._first + len(self._slices)
        known = {"first": first, "slices": [kept_json(each, self._store) for each in slices]}
        self._files.put(batch, json.dumps(known).encode())
        with self._moved:
            self._batches[batch] = first
            self._slices += slices
        self.wake()
        with self._moved:
            self._moved.wait_for(lambda: self._closed or not self._is_full)

    @property
    def _is_full(self) -> bool:
        waiting = self._slices[max(0, self._taken - self._first) :]
        size = sum(each.nbytes or 0 for each in waiting)
        return len(waiting) > _MOST_WAITING or size > 2 * MOST_BYTES

    @property
    def first(self) -> int:
        return self._first

    def slices(self, start: int, stop: int) -> list[Slice]:
        with self._moved:
            return self._slices[max(0, start - self._first) : max(0, stop - self._first)]

    @property
    def ended_at(self) -> int | None:
        if not self._bounded or self._query is None or self._query.isActive:
            return None
        return self._first + len(self._slices)

    @property
    def ends_itself(self) -> bool:
        return self._bounded

    def stop_for(self, start: int) -> int:
        """Batches are whole in a tick: they were made at one time."""
        there = self.slices(start, self.poll())
        if self._bounded:
            starts = sorted(number for number in self._batches.values() if number > start)
            return starts[0] if starts else start + len(there)
        return start + within(there, None, MOST_BYTES)

    def settle(self) -> None:
        """Wait until Spark has brought everything that is there now."""
        self.poll()
        if self._query is not None and not self._bounded:
            try:
                self._query.processAllAvailable()
            except SPARK_ERRORS as error:
                raise explained(error) from error
        elif self._query is not None:
            try:
                self._query.awaitTermination()
            except StreamingQueryException:
                self._raise()

    def taken(self, before: int) -> None:
        with self._moved:
            self._taken = max(self._taken, before)
            self._moved.notify_all()

    def forget(self, before: int) -> None:
        """Delete segments that no tick needs; the last batch stays, for its number."""
        whole = sorted(self._batches.items())
        for (batch, _), (_, end) in pairwise(whole):
            if end > before:
                break
            with self._moved:
                gone, self._slices = (
                    self._slices[: end - self._first],
                    self._slices[end - self._first :],
                )
                self._first = end
                del self._batches[batch]
            self._files.remove_before(batch + 1)
            for each in gone:
                if isinstance(each, FileSlice):
                    self._store.remove(f"{self._folder}/{each.path.rsplit('/', 1)[-1]}")

    def close(self) -> None:
        with self._moved:
            self._closed = True
            self._moved.notify_all()
        if self._query is not None:
            self._query.stop()

    def _raise(self) -> None:
        """Tell why Spark has stopped, if it has failed."""
        if self._query is not None and not self._query.isActive and not self._closed:
            failure = self._query.exception()
            if failure is not None:
                raise explained(failure)
