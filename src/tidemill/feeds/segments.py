"""The files of rows that were pushed into one stream."""

from __future__ import annotations

import json

import pyarrow as pa

from tidemill.errors import ExecutionError
from tidemill.feeds.opening import folder_of, in_store
from tidemill.feeds.parts import count_rows
from tidemill.feeds.slices import FileSlice, Slice
from tidemill.feeds.tables import in_batches
from tidemill.store import Store

_SUFFIX = ".arrow"


class Segments:
    """Numbered files in a folder of the store, and which of them are still needed."""

    def __init__(self, name: str, store: Store) -> None:
        self._name = name
        self._store = store
        self._folder = f"{folder_of(name)}/pushed"
        self._state = f"{folder_of(name)}/pushed.json"

    @property
    def uri(self) -> str:
        """The store."""
        return self._store.uri

    def write(self, number: int, table: pa.Table) -> FileSlice:
        """Rows as a file; it is there whole when this returns."""
        size = self._store.put_table(self._file(number), in_batches(table))
        return self._slice(number, table.num_rows, size)

    def read(self, slice: Slice) -> pa.Table:
        """The rows of a segment, in memory that stays when the store goes."""
        assert isinstance(slice, FileSlice)
        buffer = pa.py_buffer(self._store.get(f"{self._folder}/{slice.path.rsplit('/', 1)[1]}"))
        return pa.ipc.open_file(buffer).read_all()

    def tell(self, first: int, ended_at: int | None) -> None:
        """Write down which segment is the first one needed, and whether more can come."""
        state = {"first": first, "ended_at": ended_at}
        self._store.put(self._state, json.dumps(state).encode())

    def remove(self, numbers: range) -> None:
        """Delete segments; `tell` has said before that they are not needed."""
        for number in numbers:
            self._store.remove(self._file(number))

    def found(self) -> tuple[int, list[Slice], int | None]:
        """What an earlier run has left: the first number, the segments from there, the end."""
        state = {"first": 0, "ended_at": None}
        if self._store.exists(self._state):
            state = json.loads(self._store.get(self._state))
        first, ended_at = state["first"] or 0, state["ended_at"]
        names = self._store.names(self._folder)
        numbers = [int(name.removesuffix(_SUFFIX)) for name in names if name.endswith(_SUFFIX)]
        needed = [number for number in numbers if number >= first]
        # A run that stopped while it forgot some has left them.
        self.remove(range(min(numbers, default=first), first))
        expected = range(first, max(ended_at or 0, max(needed, default=first - 1) + 1))
        if lost := sorted(set(expected) - set(needed)):
            help = "its rows are lost; choose another checkpoint"
            file = self._store.path(self._file(lost[0]))
            raise ExecutionError(f"rows of `{self._name}` are gone: no {file}", help=help)
        return first, [self._known(number) for number in needed], ended_at

    def _known(self, number: int) -> Slice:
        file = self._file(number)
        rows = count_rows(in_store(self._store, file))
        return self._slice(number, rows, self._store.size(file))

    def _slice(self, number: int, rows: int, size: int) -> FileSlice:
        return FileSlice("arrow", in_store(self._store, self._file(number)), rows=rows, nbytes=size)

    def _file(self, number: int) -> str:
        return f"{self._folder}/{number:012d}{_SUFFIX}"
