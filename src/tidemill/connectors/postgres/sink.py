"""A table in PostgreSQL that holds the result of a query, exactly, whatever happens between.

Every tick is one transaction, in which its number is noted. A tick that is done again after a
crash finds its number there, and does nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from psycopg import sql

from tidemill.connectors.postgres.connect import Connection, Server, attempt
from tidemill.connectors.postgres.copying import EXACT, copy_in
from tidemill.connectors.postgres.options import checked
from tidemill.connectors.postgres.target import Target, prepare

_INCOMING = sql.Identifier("#incoming")

_BEGIN = f"SET TRANSACTION ISOLATION LEVEL READ COMMITTED; {EXACT}"
_RECEIVE = "CREATE TEMP TABLE {incoming} ON COMMIT DROP AS SELECT {columns} FROM {target} LIMIT 0"

# Equal rows of both sides are numbered; where a number is on one side only, the row goes or comes.
# Partitions take NULL for equal to NULL.
_DIFFER = """
LOCK TABLE {target} IN SHARE ROW EXCLUSIVE MODE;
CREATE TEMP TABLE {differing} ON COMMIT DROP AS
SELECT "#new", "#place" FROM (
    SELECT *, count(*) OVER (PARTITION BY {columns}, "#number") AS "#sides" FROM (
        SELECT *, row_number() OVER (PARTITION BY {columns}, "#new") AS "#number" FROM (
            SELECT {columns}, false AS "#new", ctid AS "#place" FROM {target}
            UNION ALL SELECT {columns}, true, ctid FROM {incoming}
        ) AS "#both"
    ) AS "#numbered"
) AS "#paired" WHERE "#sides" = 1;
DELETE FROM {target} AS t USING {differing} WHERE t.ctid = "#place" AND NOT "#new";
INSERT INTO {target} ({columns})
SELECT {columns} FROM {incoming} AS i JOIN {differing} ON i.ctid = "#place" WHERE "#new"
"""


class PostgresSink:
    """Keeps a table equal to the newest snapshot, or adds the rows of every tick to it.

    `query` names the writer: only the same one may continue a table, from the tick that it has
    come to. `columns` are the columns of the result.
    """

    def __init__(
        self, options: Mapping[str, Any], query: str, columns: pa.Schema, whole: bool
    ) -> None:
        table = checked(options, ("replace",), "the sink postgres")
        self._server = Server.of(options)
        self._columns = sql.SQL(", ").join(map(sql.Identifier, columns.names))
        self._whole = whole
        replace = str(options.get("replace", False)).lower() == "true"

        def start(connection: Connection) -> Target:
            with connection.transaction():
                connection.execute(_BEGIN)
                target, is_new = prepare(connection, table, columns, query, replace)
                if is_new and not whole:
                    connection.execute(sql.SQL("DELETE FROM {}").format(target.name.identifier))
                return target

        self._target = attempt(self._server, start)

    def __call__(self, rows: pa.Table, tick: int) -> None:
        """Write a tick, unless it is written."""
        attempt(self._server, lambda connection: self._tick(connection, rows, tick))

    def _tick(self, connection: Connection, rows: pa.Table, tick: int) -> None:
        with connection.transaction():
            connection.execute(_BEGIN)
            if self._target.tick(connection) >= tick:
                return
            if self._whole:
                self._replace(connection, rows)
            else:
                copy_in(connection, self._target.name.identifier, rows)
            self._target.note(connection, tick)

    def _replace(self, connection: Connection, rows: pa.Table) -> None:
        """Only what differs is touched, so that others see a table that changes little."""
        names = {
            "target": self._target.name.identifier,
            "incoming": _INCOMING,
            "differing": sql.Identifier("#differing"),
            "columns": self._columns,
        }
        connection.execute(sql.SQL(_RECEIVE).format(**names))
        copy_in(connection, _INCOMING, rows)
        connection.execute(sql.SQL(_DIFFER).format(**names))
