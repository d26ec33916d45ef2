"""The rows of a relation that users change, kept as tables of Arrow.

A numbered file for each change holds the rows that were inserted, or the numbers of those that
were deleted; from time to time, all rows take the place of the changes before.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import polars as pl
import pyarrow as pa

from tidemill.connectors.change_source import DELETED, INSERTED
from tidemill.errors import DamageError
from tidemill.store import Numbered, Store, ipc_file

ID = "#number"
"""The number of a row, which it keeps."""

_KIND, _AT = b"kind", b"at"
_WHOLE, _INSERTED, _DELETED = b"whole", b"inserted", b"deleted"
_FEWEST_ROWS = 1000
_MOST_FILES = 64


def folder_of_relation(name: str) -> str:
    """The folder of a relation in the store of an engine."""
    return f"relations/{quote(name.casefold(), safe='')}"


class RelationLog:
    """The files of one relation."""

    def __init__(self, store: Store, name: str) -> None:
        self._open(store, folder_of_relation(name))

    @classmethod
    def at(cls, store: Store, folder: str) -> RelationLog:
        """The log in a folder of a store."""
        log = cls.__new__(cls)
        log._open(store, folder)
        return log

    def _open(self, store: Store, folder: str) -> None:
        self._store = store
        self._files = Numbered(store, folder, ".arrow", keep_last=True)
        self._changed = 0

    def rows(self) -> pl.DataFrame | None:
        """All rows, if any were ever written."""
        rows: pl.DataFrame | None = None
        for number in self._files.numbers:
            table = self._store.get_table(self._files.file(number))
            rows = self._after(rows, table, number)
        return rows

    def insert(self, before: pl.DataFrame, added: pl.DataFrame) -> None:
        """Write down that rows were added to those before."""
        self._begin(before)
        self._put(_INSERTED, added)
        self._shorten(lambda: pl.concat([before, added]), added.height)

    def delete(self, before: pl.DataFrame, gone: pl.DataFrame, at: int) -> None:
        """Write down that some of the rows before were deleted at an instant."""
        self._begin(before)
        self._put(_DELETED, gone.select(ID), at)
        self._shorten(lambda: ended(before, gone[ID], at), gone.height)

    def _begin(self, rows: pl.DataFrame) -> None:
        """What was there before the first change may be read from elsewhere, and change there."""
        if not self._files.numbers:
            self._put(_WHOLE, rows)

    def _shorten(self, rows: Callable[[], pl.DataFrame], changed: int) -> None:
        self._changed += changed
        if len(self._files.numbers) > _MOST_FILES or self._changed > _FEWEST_ROWS:
            now = rows()
            if len(self._files.numbers) > _MOST_FILES or 2 * self._changed > now.height:
                self._put(_WHOLE, now)
                self._files.remove_before(self._files.numbers[-1])
                self._changed = 0

    def _put(self, kind: bytes, rows: pl.DataFrame, at: int = 0) -> None:
        facts = {_KIND: kind, _AT: str(at).encode()}
        table = rows.to_arrow(compat_level=pl.CompatLevel.newest()).replace_schema_metadata(facts)
        self._files.put(self._files.next, memoryview(ipc_file(table)))

    def _after(self, rows: pl.DataFrame | None, table: pa.Table, number: int) -> pl.DataFrame:
        kind, at = table.schema.metadata[_KIND], int(table.schema.metadata[_AT])
        found = pl.DataFrame(table.replace_schema_metadata(None))
        if kind == _WHOLE:
            self._changed = 0
            return found
        if rows is None:
            raise DamageError(self._store.path(self._files.file(number - 1)), "it is missing")
        self._changed += found.height
        return pl.concat([rows, found]) if kind == _INSERTED else ended(rows, found[ID], at)


def ended(rows: pl.DataFrame, ids: pl.Series, at: int) -> pl.DataFrame:
    """Rows of which some were deleted; what is deleted before it was inserted never was there."""
    gone = pl.col(ID).is_in(ids.implode())
    end = pl.when(gone).then(pl.lit(at, pl.Int64)).otherwise(pl.col(DELETED)).alias(DELETED)
    return rows.with_columns(end).filter(pl.col(INSERTED) < pl.col(DELETED))
