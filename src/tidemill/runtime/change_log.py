"""What each tick saw of a relation that changes, kept in the store of a run.

A file for each tick that saw any holds its versions, as they went into the tick, and the position
after them: a tick that is done again sees the same. From time to time all versions that are not
ended are stored, so that what was before is needed no more.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from urllib.parse import quote

import polars as pl
import pyarrow as pa

from tidemill.algebra.nodes import VERSION
from tidemill.algebra.schema import Field, Schema
from tidemill.connectors.change_source import DELETED, INSERTED
from tidemill.errors import DamageError
from tidemill.physical.operator import empty_frame
from tidemill.store import Numbered, Store, ipc_file
from tidemill.timeline import OPEN_END

FOLDER = "changes"
"""Where they are: a folder for every relation."""

_FACTS = b"facts"
_FEWEST_ROWS = 1000
_MOST_TICKS = 64


@dataclass(frozen=True)
class ChangeOffset:
    """How far a relation was followed: up to which tick, where to go on, and with which number."""

    tick: int = -1
    position: str = ""
    next_id: int = 0


class ChangeLog:
    """The files of one relation; `schema` are its columns without the number of the version."""

    def __init__(self, store: Store, name: str, schema: Schema) -> None:
        self._store = store
        self._folder = f"{FOLDER}/{quote(name.casefold(), safe='')}"
        added = (Field(column, pa.int64()) for column in (VERSION, INSERTED, DELETED))
        self.schema = Schema((*schema, *added))
        self._seen, self._open = _files_in(store, self._folder)
        self.place = self._place_of(self._seen) if self._seen.numbers else ChangeOffset()
        self._stored = self._gathered = self._ticks = 0

    @property
    def nothing(self) -> pl.DataFrame:
        """No versions."""
        return empty_frame(self.schema)

    def rows(self) -> pl.DataFrame:
        """The versions that the last tick that saw any has seen."""
        return self._read(self._seen, self._seen.numbers[-1])

    def forget(self) -> None:
        """Delete everything: no run follows the relation any more."""
        self._store.remove_folder(self._folder)

    @property
    def is_new(self) -> bool:
        """Whether one tick only has seen rows."""
        return self._seen.numbers == [0]

    def open(self, before_last: bool = False) -> pl.DataFrame:
        """The versions that are not ended, in the order of their numbers.

        Those `before_last` are what they were before the last tick that saw changes.
        """
        stored = self._open.numbers[-1:]
        later = [number for number in self._seen.numbers if number > max(stored, default=-1)]
        later = later[:-1] if before_last else later
        _refuse_gap(self._store, self._seen, self._open)
        parts = [self._read(self._open, number) for number in stored]
        parts += [self._read(self._seen, number) for number in later]
        rows = pl.concat([self.nothing, *parts])
        self._ticks, self._stored = len(later), parts[0].height if parts else 0
        self._gathered = rows.height - self._stored
        ended = rows.filter(pl.col(INSERTED) == pl.col(DELETED))[VERSION]
        is_open = (pl.col(DELETED) == OPEN_END) & ~pl.col(VERSION).is_in(ended.implode())
        return rows.filter(is_open).sort(VERSION)

    def write(self, rows: pl.DataFrame, place: ChangeOffset) -> None:
        """Keep what a tick sees, and where to go on after it."""
        is_first = self.place.tick < 0
        if not rows.height and not is_first:
            return  # whoever goes on from the position before sees the same
        self._write(self._seen, self._seen.next, rows, place)
        self.place = place
        if is_first:
            self._stored = rows.height  # the first rows are as good as stored versions
            return
        self._gathered += rows.height
        self._ticks += 1

    def store(self, versions: pl.DataFrame) -> None:
        """Keep all versions that are not ended, as they are after the last tick."""
        last = self._seen.numbers[-1]
        self._write(self._open, last, versions, self.place)
        self._seen.remove_before(last)
        self._open.remove_before(last)
        self._stored, self._gathered, self._ticks = versions.height, 0, 0

    @property
    def is_long(self) -> bool:
        """Whether so much has gathered since versions were stored that it is worth doing again."""
        most = max(_FEWEST_ROWS, self._stored // 2)
        return self._gathered > most or self._ticks > _MOST_TICKS

    def _place_of(self, files: Numbered) -> ChangeOffset:
        table = self._store.get_table(files.file(files.numbers[-1]))
        return ChangeOffset(**json.loads(table.schema.metadata[_FACTS]))

    def _read(self, files: Numbered, number: int) -> pl.DataFrame:
        table = self._store.get_table(files.file(number))
        return pl.DataFrame(table.replace_schema_metadata())

    def _write(self, files: Numbered, number: int, rows: pl.DataFrame, place: ChangeOffset) -> None:
        table = rows.select(self.schema.names).to_arrow().cast(self.schema.to_arrow())
        facts = {_FACTS: json.dumps(asdict(place)).encode()}
        files.put(number, memoryview(ipc_file(table.replace_schema_metadata(facts))))


def check_changes(store: Store, folder: str) -> None:
    """Refuse what was kept of a relation if it is not all there."""
    _refuse_gap(store, *_files_in(store, folder))


def _files_in(store: Store, folder: str) -> tuple[Numbered, Numbered]:
    """What ticks have seen, and the versions that were not ended."""
    return (
        Numbered(store, folder, ".rows", keep_last=True),
        Numbered(store, folder, ".open", sparse=True, keep_last=True),
    )


def _refuse_gap(store: Store, seen: Numbered, stored: Numbered) -> None:
    """Rows are deleted when versions are stored that stand for them, and not before."""
    if not stored.numbers and seen.numbers and seen.numbers[0] > 0:
        path = store.path(seen.file(seen.numbers[0] - 1))
        raise DamageError(path, "it is missing")
