"""Tables that were handed over: one for each tick."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pyarrow as pa

from tidemill.connectors.feeds.feed import Feed
from tidemill.connectors.feeds.opening import folder_of
from tidemill.connectors.feeds.slices import FileSlice, Slice, TableSlice, stored_slice
from tidemill.errors import ExecutionError
from tidemill.store import Store

_BATCH = 1 << 17  # rows: so that several tasks can share a large table


class TablesFeed(Feed):
    """Tables as slices; with a store they become files that tasks on other machines can read.

    They are written when they are first read. Those of an earlier run have to be the same.

    >>> feed = TablesFeed("s", [pa.table({"at": [1, 2]}), pa.table({"at": [3]})])
    >>> feed.poll(), feed.ended_at, feed.stop_for(0), feed.slices(1, 2)[0].rows
    (2, 2, 1, 1)
    """

    def __init__(self, name: str, tables: Sequence[pa.Table], store: Store | None = None) -> None:
        super().__init__(name)
        self._tables = tables
        self._store = store
        self._folder = f"{folder_of(name)}/tables"
        self._written: dict[int, Slice] = {}
        if store is not None:
            self._check(store)

    def poll(self) -> int:
        return len(self._tables)

    def slices(self, start: int, stop: int) -> list[Slice]:
        return [self._slice(number) for number in range(len(self._tables))[start:stop]]

    @property
    def ended_at(self) -> int:
        return len(self._tables)

    def stop_for(self, start: int) -> int:
        return min(start + 1, len(self._tables))

    def _slice(self, number: int) -> Slice:
        if number not in self._written:
            self._written[number] = (
                TableSlice(self._tables[number])
                if self._store is None
                else self._stored(self._store, number)
            )
        return self._written[number]

    def _stored(self, store: Store, number: int) -> FileSlice:
        table, file = self._tables[number], self._file(number)
        if not store.exists(file):
            store.put_table(file, in_batches(table))
        return stored_slice(store, file, table.num_rows, store.size(file))

    def _check(self, store: Store) -> None:
        known = [int(file.split(".")[0]) for file in store.names(self._folder)]
        for number in known:
            what = f"table {number + 1} of `{self.name}`"
            if number >= len(self._tables):
                raise _changed(f"{what} is gone, which this checkpoint has")
            before = pl.DataFrame(store.get_table(self._file(number)))
            if not before.equals(pl.DataFrame(self._tables[number])):
                raise _changed(f"{what} is not the one that this checkpoint has read")

    def _file(self, number: int) -> str:
        return f"{self._folder}/{number:06d}.arrow"


def in_batches(table: pa.Table) -> pa.Table:
    """The same rows, in pieces that several tasks can share."""
    return pa.Table.from_batches(table.to_batches(max_chunksize=_BATCH), table.schema)


def _changed(message: str) -> ExecutionError:
    help = "add new tables behind the old ones, or choose another checkpoint"
    return ExecutionError(message, help=help)
