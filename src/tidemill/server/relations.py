"""Relations that clients change; after a restart, their changes are made again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.types import name_of
from tidemill.server.incoming import from_json
from tidemill.server.keeping import note
from tidemill.server.problems import Refused
from tidemill.server.service import Service
from tidemill.server.show.statements import quoted
from tidemill.sql import Tidemill


class Relations:
    """Inserts and deletes rows, and notes that as statements."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def insert(self, name: str, rows: Sequence[dict[str, Any]], at: int | None) -> int:
        """Insert rows from an instant on; how many."""
        info = self._service.source(name)
        table = from_json(rows, info)
        text = insertion(info.name, table, at) if self._service.log and rows else None
        with self._service.lock:
            count = self._service.engine.insert(info.name, table, at) if rows else 0
            self._note(text)
        return count

    def delete(self, name: str, where: str | None, at: int | None) -> int:
        """Delete rows from an instant on; how many."""
        info = self._service.source(name)
        condition = "" if where is None else f" WHERE {where}"
        with self._service.lock:
            count = self._service.engine.delete(info.name, where, at)
            self._note(f"DELETE FROM {quoted(info.name)}{condition}{_at(at)}")
        return count

    def _note(self, text: str | None) -> None:
        if self._service.log is not None and text is not None:
            note(self._service.log, text)
        self._service.changed()


def insertion(name: str, table: pa.Table, at: int | None) -> str:
    """A statement that inserts rows.

    >>> print(insertion("r", pa.table({"a": [1], "b": ["it's"]}), 5))
    INSERT INTO `r` (`a`, `b`) VALUES
    (CAST('1' AS BIGINT), 'it\\'s') AT 5
    """
    columns = ", ".join(map(quoted, table.column_names))
    kinds = table.schema.types
    rows = (
        ", ".join(_literal(value, kind) for value, kind in zip(row.values(), kinds, strict=True))
        for row in table.to_pylist()
    )
    values = ",\n".join(f"({row})" for row in rows)
    return f"INSERT INTO {quoted(name)} ({columns}) VALUES\n{values}{_at(at)}"


def _at(instant: int | None) -> str:
    return "" if instant is None else f" AT {instant}"


def _literal(value: Any, kind: pa.DataType) -> str:
    if pa.types.is_nested(kind):
        help = "without a folder (--dir), or with INSERT INTO ... VALUES, they can be inserted"
        raise Refused("rows with lists or structures cannot be kept", help=help)
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    text = value.isoformat(" ") if isinstance(value, datetime) else str(value)
    shown = exp.Literal.string(text).sql(dialect=Tidemill)
    return shown if isinstance(value, str) else f"CAST({shown} AS {name_of(kind)})"
