"""Slices: pieces of a source that tasks read, and how they are dealt out to tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import pyarrow as pa

from tidemill.feeds.opening import in_store
from tidemill.feeds.parts import parts_of
from tidemill.store import Store

_UNKNOWN_SIZE = 1 << 20

OptionValue = str | int | float | bool | None


@dataclass(frozen=True)
class FileSlice:
    """A file, or some of its row groups (Parquet) or record batches (Arrow): `first` to `last`.

    `path` is a path of this machine or a URI that all machines know. `rows` and `nbytes` are what
    is known before reading it.
    """

    format: str
    path: str
    options: tuple[tuple[str, OptionValue], ...] = ()
    first: int | None = None
    last: int | None = None
    rows: int | None = None
    nbytes: int | None = None


@dataclass(frozen=True, eq=False)
class TableSlice:
    """A table in the memory of this process."""

    table: pa.Table

    @property
    def rows(self) -> int:
        return int(self.table.num_rows)

    @property
    def nbytes(self) -> int:
        return int(self.table.nbytes)


Slice = FileSlice | TableSlice


def stored(store: Store, name: str, table: pa.Table) -> FileSlice:
    """A table as a file of a store."""
    store.put_table(name, table)
    return FileSlice("arrow", in_store(store, name), rows=table.num_rows, nbytes=table.nbytes)


def to_json(slice: FileSlice) -> dict[str, Any]:
    """A slice as JSON has it: only what is not as usual.

    >>> to_json(FileSlice("parquet", "bids/1.parquet", nbytes=100))
    {'format': 'parquet', 'path': 'bids/1.parquet', 'nbytes': 100}
    """
    given = {name: value for name, value in asdict(slice).items() if value not in (None, ())}
    return given | ({"options": dict(slice.options)} if slice.options else {})


def from_json(fields: dict[str, Any]) -> FileSlice:
    """The slice that `to_json` has told of.

    >>> slice = FileSlice("csv", "bids.csv", (("sep", ";"),), rows=3)
    >>> from_json(to_json(slice)) == slice
    True
    """
    return FileSlice(**fields | {"options": tuple(dict(fields.get("options", {})).items())})


def size_of(slice: Slice) -> int:
    """The bytes of a slice, or a guess."""
    return _UNKNOWN_SIZE if slice.nbytes is None else slice.nbytes


def split(slices: Sequence[Slice], ways: int) -> list[list[Slice]]:
    """Deal slices out to so many tasks, each about as many bytes; some may get nothing.

    The same slices are always dealt out in the same way, and each task gets its own in their
    order.

    >>> files = [FileSlice("csv", f"{size}.csv", nbytes=size) for size in (10, 90, 30, 40)]
    >>> [[slice.path for slice in task] for task in split(files, 2)]
    [['90.csv'], ['10.csv', '30.csv', '40.csv']]
    """
    return [[piece for _, piece in task] for task in split_numbered(slices, ways)]


def split_numbered(slices: Sequence[Slice], ways: int) -> list[list[tuple[int, Slice]]]:
    """The same, with the number of the slice that every piece is of."""
    total = sum(map(size_of, slices))
    pieces = [
        (number, piece)
        for number, slice in enumerate(slices)
        for piece in _pieces(slice, -(-total // ways), ways)
    ]
    # The largest first, each to the task that has the least: no task gets much more than others.
    order = sorted(range(len(pieces)), key=lambda at: (-size_of(pieces[at][1]), at))
    loads, dealt = [0] * ways, [list[int]() for _ in range(ways)]
    for at in order:
        task = min(range(ways), key=lambda task: (loads[task], len(dealt[task]), task))
        loads[task] += size_of(pieces[at][1])
        dealt[task].append(at)
    return [_joined([pieces[at] for at in sorted(task)]) for task in dealt]


def _joined(pieces: list[tuple[int, Slice]]) -> list[tuple[int, Slice]]:
    """Pieces of a file that follow each other are read at once."""
    joined: list[tuple[int, Slice]] = []
    for number, piece in pieces:
        last = joined[-1][1] if joined else None
        if isinstance(last, FileSlice) and isinstance(piece, FileSlice) and _follows(last, piece):
            rows, nbytes = (last.rows or 0) + (piece.rows or 0), size_of(last) + size_of(piece)
            joined[-1] = number, replace(last, last=piece.last, rows=rows, nbytes=nbytes)
        else:
            joined.append((number, piece))
    return joined


def _follows(one: FileSlice, other: FileSlice) -> bool:
    return one.path == other.path and one.last is not None and one.last + 1 == other.first


def _pieces(slice: Slice, share: int, ways: int) -> list[Slice]:
    """A slice that is more than the share of a task, in pieces that are not."""
    if ways == 1 or size_of(slice) <= share:
        return [slice]
    if isinstance(slice, TableSlice):
        return _table_pieces(slice.table, ways)
    parts = parts_of(slice.format, slice.path, slice.first, slice.last)
    # Small pieces make even loads.
    return _file_pieces(slice, parts, share // 8) if len(parts) > 1 else [slice]


def _table_pieces(table: pa.Table, ways: int) -> list[Slice]:
    length = max(1, -(-table.num_rows // ways))
    return [TableSlice(table.slice(at, length)) for at in range(0, table.num_rows, length)]


def _file_pieces(slice: FileSlice, parts: Sequence[tuple[int, int]], most: int) -> list[Slice]:
    """Neighbouring parts (rows and bytes of each) together, as many as are not too large."""
    runs: list[list[int]] = []
    filled = 0
    for number, (_, size) in enumerate(parts):
        if not runs or filled + size > most:
            runs.append([])
            filled = 0
        runs[-1].append(number)
        filled += size
    return [_run(slice, parts, run[0], run[-1]) for run in runs]


def _run(slice: FileSlice, parts: Sequence[tuple[int, int]], first: int, last: int) -> FileSlice:
    start = slice.first or 0
    rows, nbytes = (sum(column) for column in zip(*parts[first : last + 1], strict=True))
    kind, path, options = slice.format, slice.path, slice.options
    return FileSlice(kind, path, options, start + first, start + last, rows, nbytes)
