"""The files of rows that were pushed into one stream."""

from __future__ import annotations

import json

import pyarrow as pa

from tidemill.connectors.feeds.opening import folder_of, in_store
from tidemill.connectors.feeds.parts import count_rows
from tidemill.connectors.feeds.slices import FileSlice, Slice, stored_slice
from tidemill.connectors.feeds.tables import in_batches
from tidemill.store import Numbered, Store, ipc_file

_SUFFIX = ".arrow"


class Segments:
    """Numbered files in a folder of the store; those at the front go when they are not needed."""

    def __init__(self, name: str, store: Store) -> None:
        self._store = store
        self._files = Numbered(store, f"{folder_of(name)}/pushed", _SUFFIX)
        self._end = f"{folder_of(name)}/pushed.json"

    @property
    def uri(self) -> str:
        """The store."""
        return self._store.uri

    def write(self, number: int, table: pa.Table) -> FileSlice:
        """Rows as a file; a crash leaves it when this returns."""
        size = self._files.put(number, memoryview(ipc_file(in_batches(table))))
        return self._slice(number, table.num_rows, size)

    def read(self, slice: Slice) -> pa.Table:
        """The rows of a segment, in memory that stays when the store goes."""
        assert isinstance(slice, FileSlice)
        number = int(slice.path.rsplit("/", 1)[1].removesuffix(_SUFFIX))
        return pa.ipc.open_file(pa.py_buffer(self._files.get(number))).read_all()

    def begin_at(self, number: int) -> None:
        """Let the first segment have this number, if there was none yet."""
        self._files.begin_at(number)

    def close(self, ended_at: int) -> None:
        """Write down that no more segments come."""
        self._store.put(self._end, json.dumps({"ended_at": ended_at}).encode())

    def remove_before(self, number: int) -> None:
        """Delete segments that no tick needs: the last commit says where ticks go on."""
        self._files.remove_before(number)

    def remove_from(self, number: int) -> None:
        """Delete segments that were never acknowledged."""
        self._files.remove_from(number)

    def found(self) -> tuple[int, list[Slice], int | None]:
        """What an earlier run has left: the first number, the segments from there, the end."""
        ended_at = None
        if self._store.exists(self._end):
            ended_at = json.loads(self._store.get(self._end))["ended_at"]
        numbers = self._files.numbers
        first = numbers[0] if numbers else self._files.next
        return first, [self._known(number) for number in numbers], ended_at

    def _known(self, number: int) -> Slice:
        file = self._files.file(number)
        return self._slice(number, count_rows(in_store(self._store, file)), self._store.size(file))

    def _slice(self, number: int, rows: int, size: int) -> FileSlice:
        return stored_slice(self._store, self._files.file(number), rows, size)
