"""Rows that are pushed into a stream: every push is a slice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import RLock

import pyarrow as pa

from tidemill.algebra.schema import Schema
from tidemill.errors import ExecutionError
from tidemill.feeds.feed import MOST_BYTES, Feed, within
from tidemill.feeds.segments import Segments
from tidemill.feeds.slices import Slice, TableSlice
from tidemill.store import Store


class PushedFeed(Feed):
    """Rows wait in memory, or with a store in files that a restart finds again.

    >>> feed = PushedFeed("s", Schema.of(at=pa.int64()))
    >>> feed.push(pa.table({"at": [1, 2]})), feed.push(pa.table({"at": [3]}))
    (0, 1)
    >>> feed.poll(), feed.waiting(1), feed.ended_at
    (2, 1, None)
    """

    def __init__(self, name: str, schema: Schema, store: Store | None = None) -> None:
        super().__init__(name)
        self._schema = schema.to_arrow()
        self._lock = RLock()
        self._first = 0
        self._slices: list[Slice] = []
        self._ended_at: int | None = None
        self._segments = None if store is None else Segments(name, store)
        self.position = 0
        """Ticks have read the slices before this one."""
        self.closed: Callable[[], None] = lambda: None
        """Called when nobody reads any more."""
        if self._segments is not None:
            self._first, self._slices, self._ended_at = self._segments.found()
            self.position = self._first

    def push(self, table: pa.Table) -> int:
        """Add rows, which a store has when this returns; the number of their slice."""
        table = table.select(self._schema.names).cast(self._schema)
        with self._lock:
            if self._ended_at is not None:
                help = "rows can be pushed until the stream is closed"
                raise ExecutionError(f"`{self.name}` is closed", help=help)
            number = self._next
            if table.num_rows:
                self._slices.append(self._kept(number, table))
        self.wake()
        return number

    def take_over(self, tables: Sequence[pa.Table]) -> None:
        """Add rows that have waited elsewhere: all of them, or none if there is no room."""
        with self._lock:
            before = self._next
            try:
                for table in tables:
                    self.push(table)
            except OSError:
                # They go on waiting there: another attempt must not find them twice.
                del self._slices[before - self._first :]
                if self._segments is not None:
                    self._segments.remove(range(before, before + len(tables)))
                raise

    def close_input(self) -> None:
        """Nothing more comes."""
        with self._lock:
            self._ended_at = self._next
            self._tell()
        self.wake()

    def waiting(self, position: int) -> int:
        """How many rows there are from a position on."""
        return sum(slice.rows or 0 for slice in self.slices(position, self.poll()))

    def rest(self) -> list[pa.Table]:
        """The rows that ticks have not read, in memory that stays when the store goes."""
        with self._lock:
            there = self._slices[max(0, self.position - self._first) :]
            if self._segments is None:
                return [slice.table for slice in there if isinstance(slice, TableSlice)]
            return [self._segments.read(slice) for slice in there]

    @property
    def lasts(self) -> bool:
        """Whether rows are there again for another process."""
        return self._segments is not None and not self._segments.is_temporary

    def close(self) -> None:
        self.closed()

    @property
    def first(self) -> int:
        return self._first

    def poll(self) -> int:
        with self._lock:
            return self._next

    def slices(self, start: int, stop: int) -> list[Slice]:
        with self._lock:
            return self._slices[max(0, start - self._first) : max(0, stop - self._first)]

    @property
    def ended_at(self) -> int | None:
        return self._ended_at

    def stop_for(self, start: int) -> int:
        return start + within(self.slices(start, self.poll()), None, MOST_BYTES)

    def taken(self, before: int) -> None:
        self.position = max(self.position, before)

    def forget(self, before: int) -> None:
        with self._lock:
            gone = self._slices[: max(0, before - self._first)]
            if not gone:
                return
            old, self._first = self._first, self._first + len(gone)
            del self._slices[: len(gone)]
            self._tell()
            if self._segments is not None:
                self._segments.remove(range(old, self._first))

    @property
    def _next(self) -> int:
        return self._first + len(self._slices)

    def _kept(self, number: int, table: pa.Table) -> Slice:
        return TableSlice(table) if self._segments is None else self._segments.write(number, table)

    def _tell(self) -> None:
        if self._segments is not None:
            self._segments.tell(self._first, self._ended_at)
