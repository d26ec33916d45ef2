"""Slices: pieces of a source that tasks read."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa

from tidemill.connectors.feeds.opening import in_store, is_local
from tidemill.store import Store

_UNKNOWN_SIZE = 1 << 20
_MESSAGE = 256
"""Bytes of a message, as a guess: brokers count messages only."""

_HERE = "here"
_COLUMNAR = 8
"""So many bytes of columns are read in the time in which one of texts is."""

OptionValue = str | int | float | bool | None


@dataclass(frozen=True)
class FileSlice:
    """A file, or some of its row groups (Parquet) or record batches (Arrow): `first` to `last`.

    `path` is a path of this machine or a URI that all machines know. `rows` and `nbytes` are what
    is known before reading it. It is read only if it is in one of the folders of `within`, if any.
    """

    format: str
    path: str
    options: tuple[tuple[str, OptionValue], ...] = ()
    first: int | None = None
    last: int | None = None
    rows: int | None = None
    nbytes: int | None = None
    within: tuple[str, ...] = ()


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


class OffsetRange(NamedTuple):
    """Messages of a partition of a topic: from an offset up to another."""

    partition: int
    start: int
    end: int


@dataclass(frozen=True)
class TopicSlice:
    """Messages of a topic, and how they are read: the options of the source.

    There may be fewer messages than offsets: some are those of the broker itself.
    """

    options: tuple[tuple[str, OptionValue], ...] = field(repr=False)  # perhaps a password
    ranges: tuple[OffsetRange, ...]

    @property
    def rows(self) -> int:
        return sum(each.end - each.start for each in self.ranges)

    @property
    def nbytes(self) -> int:
        return self.rows * _MESSAGE


Slice = FileSlice | TableSlice | TopicSlice


STORED = "stored"
"""The format of tables in files of a store: Arrow, and a checksum."""

_COLUMNS = {STORED, "arrow", "parquet", "orc"}
"""Formats that have columns."""


def stored(store: Store, name: str, table: pa.Table, later: bool = False) -> FileSlice:
    """A table as a file of a store."""
    store.put_table(name, table, later=later)
    return stored_slice(store, name, table.num_rows, table.nbytes)


def stored_slice(store: Store, name: str, rows: int, nbytes: int) -> FileSlice:
    """A file of a store that `put_table` has written."""
    return FileSlice(STORED, in_store(store, name), rows=rows, nbytes=nbytes)


def kept_json(slice: FileSlice, store: Store) -> dict[str, Any]:
    """A slice as JSON has it in a store, which may be moved: its own files by their names."""
    start, _, end = in_store(store, _HERE).rpartition(_HERE)
    if slice.format == STORED and slice.path.startswith(start):
        name = slice.path[len(start) : len(slice.path) - len(end)]
        name = name if store.is_local else unquote(name)
        slice = replace(slice, path=name)
    return to_json(slice)


def kept_slice(fields: dict[str, Any], store: Store) -> FileSlice:
    """The slice that `kept_json` has described."""
    slice = from_json(fields)
    return replace(slice, path=in_store(store, slice.path)) if slice.format == STORED else slice


def to_json(slice: FileSlice) -> dict[str, Any]:
    """A slice as JSON has it: only what is not as usual.

    >>> to_json(FileSlice("parquet", "bids/1.parquet", nbytes=100))
    {'format': 'parquet', 'path': 'bids/1.parquet', 'nbytes': 100}
    """
    given = {name: value for name, value in asdict(slice).items() if value not in (None, ())}
    return given | ({"options": dict(slice.options)} if slice.options else {})


def from_json(fields: dict[str, Any]) -> FileSlice:
    """The slice that `to_json` has described.

    >>> slice = FileSlice("csv", "bids.csv", (("sep", ";"),), rows=3)
    >>> from_json(to_json(slice)) == slice
    True
    """
    options, within = dict(fields.get("options", {})), fields.get("within", ())
    return FileSlice(**fields | {"options": tuple(options.items()), "within": tuple(within)})


def size_of(slice: Slice) -> int:
    """The bytes of a slice, or a guess."""
    return _UNKNOWN_SIZE if slice.nbytes is None else slice.nbytes


def effort_of(slice: Slice) -> int:
    """What it takes to read a slice: the bytes of texts, or of a file elsewhere, that take as long.

    >>> [effort_of(FileSlice(format, "bids", nbytes=800)) for format in ("csv", "parquet")]
    [800, 100]
    """
    if isinstance(slice, TopicSlice):
        return slice.nbytes
    columnar = isinstance(slice, TableSlice) or slice.format.lower() in _COLUMNS
    near = isinstance(slice, TableSlice) or is_local(slice.path)
    return size_of(slice) // (_COLUMNAR if columnar and near else 1)
