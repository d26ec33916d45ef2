"""A table in PostgreSQL as a relation: its rows, and every committed change of them, once.

A position is a snapshot of PostgreSQL: which transactions had been committed. What a later
snapshot sees and this one does not is exactly what was committed in between, however long
transactions took and in whatever order they ended.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import pyarrow as pa
from psycopg import sql

from tidemill.algebra import Field, SourceKind
from tidemill.catalog import SourceInfo
from tidemill.connectors.change_source import INSTANT, OPERATION, ChangeSource
from tidemill.connectors.postgres.columns import ROW, Reading, check_shape, readings, shape
from tidemill.connectors.postgres.connect import Connection, Server, attempt
from tidemill.connectors.postgres.copying import EXACT, copy_out
from tidemill.connectors.postgres.log import (
    PRUNED,
    WATCHED,
    check_plain,
    install,
    is_watched,
    log_name,
)
from tidemill.connectors.postgres.names import TableName
from tidemill.connectors.postgres.options import checked
from tidemill.connectors.postgres.tables import PostgresTable, get_table
from tidemill.errors import ExecutionError

_ADDED = (Field(OPERATION, pa.int8()), Field(INSTANT, pa.int64()))
_ANEW = "start the query again, with another checkpoint"

_BEGIN = f"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; {EXACT}"
_LOCK = sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE")
_CONTENT = sql.SQL("SELECT {} FROM {} AS {}")
_ROW = sql.Identifier(ROW)
SEEN, MADE = "seen", "made"
_INSTANTS = {
    SEEN: sql.SQL("NULL"),
    MADE: sql.SQL("round(extract(epoch FROM l.at) * 1000000)::bigint"),
}
"""From when a change counts: since it is seen, or since it was made, in microseconds since 1970."""

_NOW = """
SELECT pg_current_snapshot()::text, system_identifier::text, pg_is_in_recovery()
FROM pg_control_system()
"""

# The numbers of transactions, which have an index, bound what must be looked at. A fresh log has
# no statistics that would tell.
_BY_INDEX = "SET LOCAL enable_seqscan = off"
_MISSING = """
SELECT op FROM {log} WHERE xid >= pg_snapshot_xmin({old}) AND
    (op = {pruned} OR op = {watched} AND NOT pg_visible_in_snapshot(xid, {old})) LIMIT 1
"""
_CHANGES = """
SELECT {columns}, l.op, {instant} FROM {log} AS l, json_to_record(l."row") AS {row} ({types})
WHERE l.xid >= pg_snapshot_xmin({old}) AND NOT pg_visible_in_snapshot(l.xid, {old})
    AND pg_visible_in_snapshot(l.xid, {new}) AND l.op IN (1, -1)
ORDER BY l.seq
"""


@dataclass(frozen=True)
class _Position:
    """A snapshot, the server whose transactions it counts, and the table as it was then."""

    snapshot: str
    server: str
    table: int
    columns: dict[str, str]

    @staticmethod
    def parse(text: str) -> _Position:
        return _Position(**json.loads(text))

    def __str__(self) -> str:
        return json.dumps(vars(self), ensure_ascii=False)


def open_source(info: SourceInfo) -> ChangeSource:
    """The table that a relation was declared to be; if it is to change, it is watched from now.

    SOURCE postgres(url => 'postgresql://user@host/database', table => 'schema.name')
    """
    if info.arguments:
        help = "as in SOURCE postgres(url => '...', table => '...')"
        raise ExecutionError(f"the source of `{info.name}` has options without names", help=help)
    table = checked(info.options, ("log", "instants"), f"the source of `{info.name}`")
    if (instants := info.options.get("instants", SEEN)) not in (SEEN, MADE):
        help = f"instants => '{SEEN}' or '{MADE}'"
        raise ExecutionError(f"`{info.name}` has the unknown instants {instants!r}", help=help)
    return PostgresSource(info, table)


class PostgresSource:
    """Reads a table, and the log of its changes if the relation is one that changes."""

    def __init__(self, info: SourceInfo, table: TableName) -> None:
        self._server = Server.of(info.options)
        self._name = table
        log = info.options.get("log")
        self._log = None if log is None else TableName.parse(str(log))
        self._columns = info.declared or info.schema
        self._instants = _INSTANTS[str(info.options.get("instants", SEEN))]
        self._changing = info.kind is SourceKind.CHANGING
        if self._changing:
            attempt(self._server, lambda connection: install(connection, self._name, self._log))

    def content(self) -> tuple[pa.Table, str]:
        """All rows that are there now, and the position after which changes follow."""
        return attempt(self._server, self._content)

    def changes(self, position: str) -> tuple[pa.Table, str]:
        """What was committed since a position, in the order in which it was done."""
        since = _Position.parse(position)
        return attempt(self._server, lambda connection: self._changes(connection, since))

    def _content(self, connection: Connection) -> tuple[pa.Table, str]:
        with connection.transaction():
            connection.execute(_BEGIN)
            if self._changing:
                # TRUNCATE empties a table for older snapshots too: with the lock, which must be
                # there before the snapshot, nobody truncates what is being read.
                connection.execute(_LOCK.format(self._name.identifier))
            table, columns, now = self._look(connection)
            query = _CONTENT.format(_listed(columns), table.name.identifier, _ROW)
            return copy_out(connection, query, [column.field for column in columns]), str(now)

    def _changes(self, connection: Connection, since: _Position) -> tuple[pa.Table, str]:
        with connection.transaction():
            connection.execute(f"{_BEGIN}; {_BY_INDEX}")
            table, columns, now = self._look(connection)
            log = log_name(table, self._log)
            _check_table(since, now, table, is_watched(connection, table, log))
            names = {
                "log": log.identifier,
                "old": _snapshot(since.snapshot),
                "new": _snapshot(now.snapshot),
            }
            _check_log(connection, table, names)
            query = sql.SQL(_CHANGES).format(
                **names,
                columns=_listed(columns),
                instant=self._instants,
                row=_ROW,
                types=_typed(columns),
            )
            fields = [*(column.field for column in columns), *_ADDED]
            return copy_out(connection, query, fields), str(now)

    def _look(self, connection: Connection) -> tuple[PostgresTable, list[Reading], _Position]:
        """The table, how its columns are read, and the position of this transaction."""
        table = get_table(connection, self._name)
        columns = readings(self._columns, table)
        if self._changing:
            check_plain(table)
        found = connection.execute(_NOW).fetchone()
        assert found is not None
        if self._changing and found[2]:
            help = "connect to the server that it follows"
            raise ExecutionError(f"PostgreSQL at {self._server} is a standby", help=help)
        return table, columns, _Position(found[0], found[1], table.oid, shape(columns))


def _check_table(since: _Position, now: _Position, table: PostgresTable, watched: bool) -> None:
    """Refuse to go on where changes may have been missed: something else is in its place."""
    if since.server != now.server or _end(since.snapshot) > _end(now.snapshot):
        raise ExecutionError(
            f"this is not the server from which `{table.name}` was read before, or it was set "
            "back to an earlier state",
            help=_ANEW,
        )
    if since.table != now.table:
        raise ExecutionError(f"the table `{table.name}` was dropped and created again", help=_ANEW)
    check_shape(table, since.columns, now.columns)
    if not watched:
        raise ExecutionError(
            f"the table `{table.name}` is no longer watched: its triggers or its log are gone or "
            "switched off",
            help=_ANEW,
        )


def _check_log(
    connection: Connection, table: PostgresTable, names: dict[str, sql.Composable]
) -> None:
    """Refuse to go on from where the log does not reach back to."""
    marks = {"pruned": sql.Literal(PRUNED), "watched": sql.Literal(WATCHED)}
    found = connection.execute(sql.SQL(_MISSING).format(**names, **marks)).fetchone()
    if found is not None:
        why = "were pruned" if found[0] == PRUNED else "were not all logged: it was not watched"
        raise ExecutionError(
            f"changes of the table `{table.name}` that were not read yet {why}", help=_ANEW
        )


def _end(snapshot: str) -> int:
    """The first transaction that a snapshot knows nothing of."""
    return int(snapshot.split(":")[1])


def _snapshot(text: str) -> sql.Composable:
    return sql.SQL("{}::pg_snapshot").format(sql.Literal(text))


def _listed(columns: list[Reading]) -> sql.Composed:
    return sql.SQL(", ").join(column.expression for column in columns)


def _typed(columns: list[Reading]) -> sql.Composed:
    return sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(column.field.name), sql.SQL(column.type))
        for column in columns
    )
