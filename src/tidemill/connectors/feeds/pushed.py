"""Rows that are pushed into a stream: every push is a slice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import RLock

import pyarrow as pa

from tidemill.algebra.schema import Schema
from tidemill.connectors.feeds.feed import MOST_BYTES, Feed, within
from tidemill.connectors.feeds.segments import Segments
from tidemill.connectors.feeds.slices import Slice, TableSlice
from tidemill.errors import ExecutionError
from tidemill.store import GroupCommit, Store


class PushedFeed(Feed):
    """Rows wait in memory, or with a store in files that a restart finds again.

    What is pushed at the same time, by many clients, becomes one slice: one file, and one sync.

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
        self._group = GroupCommit(self._add)
        self._first = 0
        self._slices: list[Slice] = []
        self._ended_at: int | None = None
        self._segments: Segments | None = None
        self.taken_before = 0
        """Ticks have read the slices before this one."""
        self.closed: Callable[[], None] = lambda: None
        """Called when the run that reads it has ended."""
        if store is not None:
            self.attach(store)

    def push(self, table: pa.Table) -> int:
        """Add rows, which a store has when this returns; the number of their slice."""
        number = self._group.add(table.select(self._schema.names).cast(self._schema))
        self.wake()
        return number

    def _add(self, tables: Sequence[pa.Table]) -> list[int]:
        """Ticks go on reading meanwhile; only here, numbers grow."""
        if self._ended_at is not None:
            help = "rows can be pushed until the stream is closed"
            raise ExecutionError(f"`{self.name}` is closed", help=help)
        number, added = self._next, [table for table in tables if table.num_rows]
        if added and self._segments is not None:
            slice = self._segments.write(number, pa.concat_tables(added))
            with self._lock:
                self._slices.append(slice)
            return [number] * len(tables)
        numbers = []
        with self._lock:
            for table in tables:
                numbers.append(self._next)
                self._slices += [TableSlice(table)] if table.num_rows else []
        return numbers

    def close_input(self) -> None:
        """Nothing more comes."""
        with self._group.turn, self._lock:
            self._ended_at = self._next
            if self._segments is not None:
                self._segments.close(self._ended_at)
        self.wake()

    def waiting(self, position: int) -> int:
        """How many rows there are after a position."""
        return sum(slice.rows or 0 for slice in self.slices(position, self.poll()))

    @property
    def unread(self) -> int:
        """How many rows no tick has read."""
        return self.waiting(self.taken_before)

    def taken(self, before: int) -> None:
        self.taken_before = before

    def close(self) -> None:
        self.closed()

    def attach(self, store: Store) -> None:
        """From now on rows are kept in a store; those that wait in memory come after its own."""
        with self._group.turn, self._lock:
            if self._segments is not None:
                if self._segments.uri == store.uri:
                    return
                help = f"detach it from {self._segments.uri} first"
                raise ExecutionError(f"`{self.name}` is kept in another checkpoint", help=help)
            self._to_store(Segments(self.name, store))

    def detach(self, position: int) -> None:
        """From now on rows are kept in memory, beginning at a position."""
        with self._group.turn, self._lock:
            if self._segments is None:
                self.forget(position)
                return
            kept = [TableSlice(self._segments.read(slice)) for slice in self._from(position)]
            # Their numbers stay what they are.
            self._first, self._slices = self._next - len(kept), list(kept)
            self._segments = None

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

    def forget(self, before: int) -> None:
        with self._lock:
            gone = self._slices[: max(0, before - self._first)]
            if not gone:
                return
            self._first += len(gone)
            del self._slices[: len(gone)]
            if self._segments is not None:
                self._segments.remove_before(self._first)

    @property
    def _next(self) -> int:
        return self._first + len(self._slices)

    def _from(self, position: int) -> list[Slice]:
        return self._slices[max(0, position - self._first) :]

    def _to_store(self, segments: Segments) -> None:
        in_memory, closed = self._slices, self._ended_at is not None
        first, slices, ended_at = segments.found()
        if ended_at is not None and in_memory:
            help = "choose another checkpoint, or push nothing more"
            raise ExecutionError(f"`{self.name}` is closed in {segments.uri}", help=help)
        if not slices and first == 0 and ended_at is None:
            # The store knows nothing of the stream: numbers that were given out stay what they are.
            first = self._first
            segments.begin_at(first)
        slices += self._written(segments, first + len(slices), in_memory)
        self._first, self._slices, self._segments = first, slices, segments
        self._ended_at = self._next if closed and ended_at is None else ended_at
        if self._ended_at is not None:
            segments.close(self._ended_at)

    @staticmethod
    def _written(segments: Segments, first: int, in_memory: list[Slice]) -> list[Slice]:
        tables = [slice.table for slice in in_memory if isinstance(slice, TableSlice)]
        written: list[Slice] = []
        try:
            for number, table in enumerate(tables, first):
                written.append(segments.write(number, table))
        except OSError:
            # They go on waiting in memory: another attempt must not find them twice.
            segments.remove_from(first)
            raise
        return written
