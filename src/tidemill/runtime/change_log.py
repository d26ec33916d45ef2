"""What each tick saw of a relation that changes, kept in the store of a run.

A file per tick holds its versions, as they went into the tick, and the position after them: a tick
that is done again sees the same. From time to time all versions that are not ended are stored, so
that what was before is needed no more.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from urllib.parse import quote

import polars as pl
import pyarrow as pa

from tidemill.algebra.nodes import VERSION
from tidemill.algebra.schema import Field, Schema
from tidemill.changes import DELETED, INSERTED
from tidemill.physical.operator import empty_frame
from tidemill.store import Store
from tidemill.timeline import OPEN_END

_FACTS = b"facts"
_ROWS, _OPEN = "rows", "open"
_FEWEST_ROWS = 1000
_MOST_TICKS = 64


@dataclass(frozen=True)
class Place:
    """How far a relation was followed: up to which tick, where to go on, and with which number."""

    tick: int = -1
    position: str = ""
    next_id: int = 0


class ChangeLog:
    """The files of one relation; `schema` are its columns without the number of the version."""

    def __init__(self, store: Store, name: str, schema: Schema) -> None:
        self._store = store
        self._folder = f"changes/{quote(name.casefold(), safe='')}"
        added = (Field(column, pa.int64()) for column in (VERSION, INSERTED, DELETED))
        self.schema = Schema((*schema, *added))
        files = self._files(_ROWS)
        self.place = self._place_of(files[-1]) if files else Place()
        self._empty: str | None = None
        self._stored = self._gathered = self._ticks = 0

    @property
    def nothing(self) -> pl.DataFrame:
        """No versions."""
        return empty_frame(self.schema)

    def rows(self, tick: int) -> pl.DataFrame:
        """The versions that a tick has seen."""
        return self._read(f"{tick:012d}.{_ROWS}")

    def forget(self) -> None:
        """Delete everything: nobody follows the relation any more."""
        self._store.remove_folder(self._folder)

    def open(self) -> pl.DataFrame:
        """The versions that are not ended, in the order of their numbers."""
        stored = self._files(_OPEN)[-1:]
        after = _tick(stored[0]) if stored else -1
        later = [name for name in self._files(_ROWS) if _tick(name) > after]
        parts = [self._read(name) for name in (*stored, *later)]
        rows = pl.concat([self.nothing, *parts])
        self._ticks, self._stored = len(later), parts[0].height if parts else 0
        self._gathered = rows.height - self._stored
        ended = rows.filter(pl.col(INSERTED) == pl.col(DELETED))[VERSION]
        is_open = (pl.col(DELETED) == OPEN_END) & ~pl.col(VERSION).is_in(ended.implode())
        return rows.filter(is_open).sort(VERSION)

    def write(self, rows: pl.DataFrame, place: Place) -> None:
        """Keep what a tick sees, and where to go on after it."""
        name = f"{place.tick:012d}.{_ROWS}"
        self._write(name, rows, place)
        is_first, self.place = self.place.tick < 0, place
        if self._empty is not None:
            self._store.remove(f"{self._folder}/{self._empty}")
        self._empty = None if rows.height else name
        if is_first:
            self._stored = rows.height  # the first rows are as good as stored versions
            return
        self._gathered += rows.height
        self._ticks += bool(rows.height)

    def store(self, versions: pl.DataFrame) -> None:
        """Keep all versions that are not ended, as they are after the last tick."""
        name = f"{self.place.tick:012d}.{_OPEN}"
        self._write(name, versions, self.place)
        for old in (*self._files(_ROWS)[:-1], *self._files(_OPEN)[:-1]):
            self._store.remove(f"{self._folder}/{old}")
        self._stored, self._gathered, self._ticks = versions.height, 0, 0

    @property
    def is_long(self) -> bool:
        """Whether so much has gathered since versions were stored that it is worth doing again."""
        most = max(_FEWEST_ROWS, self._stored // 2)
        return self._gathered > most or self._ticks > _MOST_TICKS

    def _files(self, kind: str) -> list[str]:
        names = self._store.names(self._folder)
        return [name for name in names if name.endswith(f".{kind}")]

    def _place_of(self, name: str) -> Place:
        table = self._store.get_table(f"{self._folder}/{name}")
        return Place(**json.loads(table.schema.metadata[_FACTS]))

    def _read(self, name: str) -> pl.DataFrame:
        table = self._store.get_table(f"{self._folder}/{name}")
        return pl.DataFrame(table.replace_schema_metadata())

    def _write(self, name: str, rows: pl.DataFrame, place: Place) -> None:
        table = rows.select(self.schema.names).to_arrow().cast(self.schema.to_arrow())
        facts = {_FACTS: json.dumps(asdict(place)).encode()}
        self._store.put_table(f"{self._folder}/{name}", table.replace_schema_metadata(facts))


def _tick(name: str) -> int:
    return int(name.split(".")[0])
