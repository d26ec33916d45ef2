"""What a source says, put together again: content, and changes applied to it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa

from tests.connectors.postgres.conftest import Database
from tidemill.algebra import Schema, SourceKind
from tidemill.catalog import SourceInfo
from tidemill.connectors.change_source import INSTANT, OPERATION, ChangeSource
from tidemill.connectors.postgres import open_source

Row = tuple[Any, ...]

_TYPES = {"k": pa.int32(), "v": pa.string()}


def source_of(
    database: Database,
    table: str = "t",
    types: dict[str, pa.DataType] | None = None,
    kind: SourceKind = SourceKind.CHANGING,
    **options: Any,
) -> ChangeSource:
    """A source over a table; options override those of the database."""
    columns = Schema.of(**(types or _TYPES))
    given = {"url": database.url, "table": table, **options}
    return open_source(SourceInfo("r", columns, kind, declared=columns, options=given))


def rows_of(table: pa.Table) -> list[Row]:
    return [tuple(row.values()) for row in table.to_pylist()]


def changes_of(table: pa.Table) -> list[tuple[int, Row]]:
    """Changes in their order: 1 or -1, and the row."""
    bare = table.drop_columns([OPERATION, INSTANT])
    return list(zip(table[OPERATION].to_pylist(), rows_of(bare), strict=True))


class Replay:
    """The table as somebody knows it who only listens to a source."""

    def __init__(self, source: ChangeSource) -> None:
        self.source = source
        content, self.position = source.content()
        self.rows = Counter(rows_of(content))
        self.seen: list[tuple[int, Row]] = []

    def poll(self) -> list[tuple[int, Row]]:
        """Take in what is new; nothing may go that is not there."""
        table, self.position = self.source.changes(self.position)
        changes = changes_of(table)
        for operation, row in changes:
            self.rows[row] += operation
            assert self.rows[row] >= 0, row
        self.seen += changes
        return changes


def table_rows(database: Database, table: str = "t", columns: str = "*") -> Counter[Row]:
    return Counter(database.run(f"SELECT {columns} FROM {table}"))
