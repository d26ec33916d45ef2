"""Tables that were handed over: one for each tick."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pyarrow as pa

from tidemill.errors import ExecutionError
from tidemill.feeds.feed import Feed
from tidemill.feeds.opening import folder_of, in_store
from tidemill.feeds.slices import FileSlice, Slice, TableSlice
from tidemill.store import Store

_BATCH = 1 << 17  # rows: so that several tasks can share a large table


class TablesFeed(Feed):
    """Tables as slices; with a store they are files that tasks on other machines can read.

    >>> feed = TablesFeed("s", [pa.table({"at": [1, 2]}), pa.table({"at": [3]})])
    >>> feed.poll(), feed.ended_at, feed.stop_for(0), feed.slices(1, 2)[0].rows
    (2, 2, 1, 1)
    """

    def __init__(self, name: str, tables: Sequence[pa.Table], store: Store | None = None) -> None:
        super().__init__(name)
        self._slices: list[Slice] = [TableSlice(table) for table in tables]
        if store is not None:
            self._slices = list(_written(name, tables, store))

    def poll(self) -> int:
        return len(self._slices)

    def slices(self, start: int, stop: int) -> list[Slice]:
        return self._slices[start:stop]

    @property
    def ended_at(self) -> int:
        return len(self._slices)

    def stop_for(self, start: int) -> int:
        return min(start + 1, len(self._slices))


def in_batches(table: pa.Table) -> pa.Table:
    """The same rows, in pieces that several tasks can share."""
    return pa.Table.from_batches(table.to_batches(max_chunksize=_BATCH), table.schema)


def _written(name: str, tables: Sequence[pa.Table], store: Store) -> list[FileSlice]:
    """Tables as files of the store; those of an earlier run have to be the same."""
    folder = f"{folder_of(name)}/tables"
    known = len(store.names(folder))
    if known > len(tables):
        raise _changed(f"table {len(tables) + 1} of `{name}` is gone, which this checkpoint has")
    slices = []
    for number, table in enumerate(tables):
        file = f"{folder}/{number:06d}.arrow"
        if number >= known:
            store.put_table(file, in_batches(table))
        elif not pl.DataFrame(store.get_table(file)).equals(pl.DataFrame(table)):
            what = f"table {number + 1} of `{name}`"
            raise _changed(f"{what} is not the one that this checkpoint has read")
        path, size = in_store(store, file), store.size(file)
        slices.append(FileSlice("arrow", path, rows=table.num_rows, nbytes=size))
    return slices


def _changed(message: str) -> ExecutionError:
    help = "add new tables behind the old ones, or choose another checkpoint"
    return ExecutionError(message, help=help)
