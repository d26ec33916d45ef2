"""What a server knows about a table: its columns, and what kind of table it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tidemill.connectors.postgres.connect import Connection
from tidemill.connectors.postgres.names import TableName
from tidemill.errors import ExecutionError, nearest

_TABLE = """
SELECT c.oid, n.nspname, c.relname, c.relkind::text, pg_get_userbyid(c.relowner),
    EXISTS (SELECT FROM pg_inherits AS i WHERE i.inhparent = c.oid)
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.oid = to_regclass(%s)
"""

_COLUMNS = """
SELECT a.attname, a.attnum, format_type(a.atttypid, a.atttypmod),
    CASE coalesce(b.typtype, t.typtype) WHEN 'e' THEN 'enum' ELSE coalesce(b.typname, t.typname) END
FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
    LEFT JOIN pg_type AS b ON t.typtype = 'd' AND b.oid = t.typbasetype
WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""

_NEIGHBOURS = """
SELECT CASE WHEN pg_table_is_visible(oid) THEN relname
    ELSE relnamespace::regnamespace || '.' || relname END
FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
"""


@dataclass(frozen=True)
class TableColumn:
    """A column: its number, which no other column of the table ever gets, and its type.

    `kind` is the short name of the type; that of a domain is the name of what it is made of.
    """

    number: int
    type: str
    kind: str


@dataclass(frozen=True)
class PostgresTable:
    """A table with its columns by name."""

    oid: int
    name: TableName
    relkind: str
    owner: str
    has_children: bool
    columns: Mapping[str, TableColumn]

    @property
    def is_plain(self) -> bool:
        """Whether all that happens to its rows happens under its own name."""
        return self.relkind == "r" and not self.has_children


def find_table(connection: Connection, name: TableName) -> PostgresTable | None:
    """The table of that name, if there is one."""
    found = connection.execute(_TABLE, [name.quoted]).fetchone()
    if found is None:
        return None
    oid, schema, table, relkind, owner, has_children = found
    rows = connection.execute(_COLUMNS, [oid]).fetchall()
    columns = {column: TableColumn(*about) for column, *about in rows}
    return PostgresTable(oid, TableName(schema, table), relkind, owner, has_children, columns)


def get_table(connection: Connection, name: TableName) -> PostgresTable:
    """The table of that name."""
    if (table := find_table(connection, name)) is not None:
        return table
    others = [str(other) for (other,) in connection.execute(_NEIGHBOURS)]
    near = nearest(str(name), others)
    guess = f"did you mean `{near}`? " if near else ""
    raise ExecutionError(
        f"there is no table `{name}` in the database {connection.info.dbname}",
        help=f"{guess}names are taken as they are written, upper case included, and "
        f"{connection.info.user} must have the right to use their schema",
    )
