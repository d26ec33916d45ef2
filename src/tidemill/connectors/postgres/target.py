"""The table that a sink writes to: its columns, and whose it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
from psycopg import sql

from tidemill.algebra.types import name_of, normalize
from tidemill.connectors.postgres.connect import Connection
from tidemill.connectors.postgres.names import TableName
from tidemill.connectors.postgres.tables import PostgresTable, find_table, get_table
from tidemill.errors import ExecutionError

BOOKS = "tidemill_sink"
"""In the schema of a target: which query writes it, and which tick it has come to."""

_BOOKS = """
CREATE TABLE IF NOT EXISTS {books} (
    target text PRIMARY KEY,
    query text NOT NULL,
    tick bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
)
"""
_CLAIM = """
INSERT INTO {books} (target, query, tick) VALUES (%s, %s, -1)
ON CONFLICT (target) DO UPDATE SET query = excluded.query, tick = -1, at = DEFAULT
"""

_HOLDS: dict[pa.DataType, tuple[str, ...]] = {
    pa.bool_(): ("boolean",),
    pa.int8(): ("smallint", "integer", "bigint"),
    pa.int16(): ("smallint", "integer", "bigint"),
    pa.int32(): ("integer", "bigint"),
    pa.int64(): ("bigint",),
    pa.float32(): ("real",),
    pa.float64(): ("double precision",),
    pa.string(): ("text", "character varying"),
    pa.binary(): ("bytea",),
    pa.date32(): ("date",),
}
"""The types of PostgreSQL that hold every value of a type; tables are made with the first."""


def holding(field: pa.Field) -> tuple[str, ...]:
    """The types of PostgreSQL that hold every value of a column, the best one first.

    >>> holding(pa.field("price", pa.decimal128(10, 2)))
    ('numeric(10,2)', 'numeric')
    >>> holding(pa.field("tags", pa.list_(pa.string())))
    ('text[]', 'character varying[]')
    """
    kind = field.type
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision},{kind.scale})", "numeric"
    if pa.types.is_timestamp(kind):
        return (f"timestamp {'without' if kind.tz is None else 'with'} time zone",)
    if pa.types.is_list(kind) and not pa.types.is_list(kind.value_type):
        return tuple(f"{part}[]" for part in holding(pa.field(field.name, kind.value_type)))
    if kind in _HOLDS:
        return _HOLDS[kind]
    raise ExecutionError(
        f"the column `{field.name}` is {name_of(normalize(kind))}, which no column of PostgreSQL "
        "can hold",
        help="select its parts, or leave it out",
    )


@dataclass(frozen=True)
class Target:
    """A table that belongs to one query, by the identity of its checkpoint."""

    name: TableName
    query: str

    @property
    def books(self) -> sql.Identifier:
        return TableName(self.name.schema, BOOKS).identifier

    def tick(self, connection: Connection) -> int:
        """The last tick that was written; nobody else writes until this transaction ends."""
        query = sql.SQL("SELECT query, tick FROM {} WHERE target = %s FOR UPDATE")
        found = connection.execute(query.format(self.books), [self.name.name]).fetchone()
        if found is None or found[0] != self.query:
            raise ExecutionError(
                f"another query has taken over the table `{self.name}`", help=_ELSEWHERE
            )
        return int(found[1])

    def note(self, connection: Connection, tick: int) -> None:
        """Write down that a tick was written."""
        query = sql.SQL("UPDATE {} SET tick = %s, at = DEFAULT WHERE target = %s")
        connection.execute(query.format(self.books), [tick, self.name.name])


_ELSEWHERE = "write to another table, or say replace => true to take this one over"


def prepare(
    connection: Connection, name: TableName, columns: pa.Schema, query: str, replace: bool
) -> tuple[Target, bool]:
    """Make or check the table of a query; whether it is the query's only from now on."""
    types = {field.name: holding(field) for field in columns}
    connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [BOOKS])
    table = find_table(connection, name) or _made(connection, name, types)
    _check_columns(table, types)
    target = Target(table.name, query)
    if find_table(connection, TableName(table.name.schema, BOOKS)) is None:
        connection.execute(sql.SQL(_BOOKS).format(books=target.books))
    if not _is_new(connection, target, replace):
        return target, False
    connection.execute(sql.SQL(_CLAIM).format(books=target.books), [table.name.name, query])
    return target, True


def _made(
    connection: Connection, name: TableName, types: Mapping[str, tuple[str, ...]]
) -> PostgresTable:
    columns = [sql.SQL("{} {}").format(sql.Identifier(n), sql.SQL(t[0])) for n, t in types.items()]
    query = sql.SQL("CREATE TABLE {} ({})").format(name.identifier, sql.SQL(", ").join(columns))
    connection.execute(query)
    return get_table(connection, name)


def _check_columns(table: PostgresTable, types: Mapping[str, tuple[str, ...]]) -> None:
    if not table.is_plain:
        help = "write to a table of its own"
        raise ExecutionError(f"`{table.name}` is a view, or has child tables", help=help)
    wrong = [f"it also has `{name}`" for name in table.columns if name not in types]
    for name, fitting in types.items():
        if (column := table.columns.get(name)) is None:
            wrong.append(f"it lacks `{name}`")
        elif column.type not in fitting:
            wrong.append(f"`{name}` is {column.type}, not {fitting[0]}")
    if wrong:
        raise ExecutionError(
            f"the table `{table.name}` does not have the columns of the result: {'; '.join(wrong)}",
            help="drop it, so that it is created again, or write to another table",
        )


def _is_new(connection: Connection, target: Target, replace: bool) -> bool:
    """Whether the table was not this query's before; if it is somebody's, that must be meant."""
    query = sql.SQL("SELECT query FROM {} WHERE target = %s").format(target.books)
    found = connection.execute(query, [target.name.name]).fetchone()
    if found == (target.query,) or replace:
        return found != (target.query,)
    if found is not None:
        raise ExecutionError(
            f"the table `{target.name}` holds the result of another query, or of this one with "
            "another checkpoint",
            help=f"continue with that checkpoint, {_ELSEWHERE}",
        )
    rows = sql.SQL("SELECT EXISTS (SELECT FROM {})").format(target.name.identifier)
    if connection.execute(rows).fetchone() == (True,):
        raise ExecutionError(
            f"the table `{target.name}` has rows that no query has written", help=_ELSEWHERE
        )
    return True
