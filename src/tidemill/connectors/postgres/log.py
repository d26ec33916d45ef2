"""The log of a table: triggers write down every change in the transaction that makes it.

A row of the log has the transaction's number and the row as JSON, which no later ALTER TABLE of
the table can make the triggers fail on, and from which every value is read back exactly.
"""

from __future__ import annotations

from datetime import timedelta

import psycopg
from psycopg import sql

from tidemill.connectors.durations import seconds
from tidemill.connectors.postgres.connect import Connection, Server, attempt
from tidemill.connectors.postgres.names import LONGEST, TableName
from tidemill.connectors.postgres.tables import PostgresTable, get_table
from tidemill.errors import ExecutionError

PRUNED = 0
"""Rows of transactions up to this one were removed."""

WATCHED = 2
"""The triggers were installed by this transaction."""

_OLDEST_SERVER = 130000  # numbers of transactions that never come again: xid8

# The triggers' names come first in the alphabet, because triggers fire in this order: what other
# triggers do to a row must be logged after what happened to it first.
_INSTALL = """
CREATE TABLE IF NOT EXISTS {log} (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    op smallint NOT NULL,
    "row" json
);
CREATE INDEX IF NOT EXISTS {index} ON {log} (xid);
COMMENT ON TABLE {log} IS {comment};
CREATE OR REPLACE FUNCTION {log}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET bytea_output = hex
AS $log$
DECLARE
    image json;
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        IF current_setting('transaction_isolation') <> 'read committed' THEN
            RAISE EXCEPTION 'TRUNCATE of a table that Tidemill watches, in a transaction that '
                'may not see all of its rows'
                USING HINT = 'use DELETE, or the isolation level READ COMMITTED';
        END IF;
        FOR image IN EXECUTE
            'SELECT row_to_json("#row") FROM ' || TG_RELID::regclass || ' AS "#row"'
        LOOP
            INSERT INTO {log} (op, "row") VALUES (-1, image);
        END LOOP;
    END IF;
    IF TG_OP IN ('DELETE', 'UPDATE') THEN
        INSERT INTO {log} (op, "row") VALUES (-1, row_to_json(OLD));
    END IF;
    IF TG_OP IN ('INSERT', 'UPDATE') THEN
        INSERT INTO {log} (op, "row") VALUES (1, row_to_json(NEW));
    END IF;
    RETURN NULL;
END
$log$;
REVOKE EXECUTE ON FUNCTION {log}() FROM PUBLIC;
DROP TRIGGER IF EXISTS {rows} ON {table};
CREATE TRIGGER {rows} AFTER INSERT OR UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION {log}();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER {rows};
DROP TRIGGER IF EXISTS {truncation} ON {table};
CREATE TRIGGER {truncation} BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION {log}();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER {truncation};
INSERT INTO {log} (op) VALUES ({watched});
"""

_TRIGGERS = """
SELECT count(*) FROM pg_trigger
WHERE tgrelid = %s AND tgenabled = 'A' AND tgfoid = to_regprocedure(%s)
    AND to_regclass(%s) IS NOT NULL
"""

_OTHERS = """
SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgfoid = to_regprocedure(%s) AND tgrelid <> %s
"""

_PRUNE = """
WITH gone AS (
    DELETE FROM {log} WHERE op = {pruned} OR at < now() - make_interval(secs => {seconds})
    RETURNING xid, op
), newest AS (
    INSERT INTO {log} (xid, op) SELECT xid, {pruned} FROM gone ORDER BY xid DESC LIMIT 1
)
SELECT count(*) FROM gone WHERE op IN (1, -1)
"""


def watch(url: str, table: str, log: str | None = None) -> None:
    """Install the log of a table and its triggers, if they are not there.

    It takes the right to make tables in the schema of the log, and triggers on the table; both
    are the owner's. Whoever reads the changes needs the right to SELECT from table and log.
    """
    name, own = TableName.parse(table), None if log is None else TableName.parse(log)
    attempt(Server.of({"url": url}), lambda c: install(c, name, own))


def prune(url: str, table: str, keep: str | timedelta, log: str | None = None) -> int:
    """Forget changes that are older than some time; the number of those that went.

    A query that has not yet read them fails when it goes on, with a message that says so.
    """
    name, own = TableName.parse(table), None if log is None else TableName.parse(log)
    age = keep.total_seconds() if isinstance(keep, timedelta) else seconds(keep)

    def remove(connection: Connection) -> int:
        table = get_table(connection, name)
        query = sql.SQL(_PRUNE).format(
            log=log_name(table, own).identifier, pruned=sql.Literal(PRUNED), seconds=age
        )
        found = connection.execute(query).fetchone()
        return 0 if found is None else int(found[0])

    return attempt(Server.of({"url": url}), remove)


def log_name(table: PostgresTable, own: TableName | None) -> TableName:
    """The log of a table: the usual one, or `own`; in the schema of the table unless it says."""
    if own is None:
        return table.name.log()
    if len(own.name.encode()) > LONGEST:
        help = f"names of logs have at most {LONGEST} bytes"
        raise ExecutionError(f"the name of the log `{own}` is too long", help=help)
    return TableName(own.schema or table.name.schema, own.name)


def is_watched(connection: Connection, table: PostgresTable, log: TableName) -> bool:
    """Whether the log and both triggers are there, and switched on."""
    arguments = [table.oid, f"{log.quoted}()", log.quoted]
    return connection.execute(_TRIGGERS, arguments).fetchone() == (2,)


def install(connection: Connection, name: TableName, own: TableName | None = None) -> None:
    """Do what `watch` does, over a connection."""
    if connection.info.server_version < _OLDEST_SERVER:
        message = f"this PostgreSQL is too old: {connection.info.server_version // 10000}"
        raise ExecutionError(message, help="reading changes needs PostgreSQL 13 or newer")
    table = get_table(connection, name)
    check_plain(table)
    log = log_name(table, own)
    try:
        if is_watched(connection, table, log):
            connection.execute(sql.SQL("SELECT FROM {} LIMIT 0").format(log.identifier))
            return
        with connection.transaction():
            # A transaction that waits for a lock on the table makes all later ones wait, too.
            connection.execute("SET LOCAL lock_timeout = '2s'")
            # Two that install at once: the second waits here, and then finds all in place.
            connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [log.quoted])
            if not is_watched(connection, table, log):
                _check_free(connection, table, log)
                connection.execute(_installation(table, log))
    except psycopg.errors.InsufficientPrivilege as error:
        raise _not_permitted(connection, table, log, error) from error


def check_plain(table: PostgresTable) -> None:
    """Refuse tables whose rows may change without a trigger of theirs."""
    if not table.is_plain:
        raise ExecutionError(
            f"changes of `{table.name}` cannot be watched: it is a view, or has child tables",
            help="watch the tables that it is made of, each as a relation of its own",
        )


def _check_free(connection: Connection, table: PostgresTable, log: TableName) -> None:
    """Refuse a log that another table writes to."""
    others = connection.execute(_OTHERS, [f"{log.quoted}()", table.oid]).fetchone()
    if others is not None:
        raise ExecutionError(
            f"`{log}` is the log of the table {others[0]} already",
            help=f"give the log of `{table.name}` another name: log => '...'",
        )


def _installation(table: PostgresTable, log: TableName) -> sql.Composed:
    return sql.SQL(_INSTALL).format(
        log=log.identifier,
        table=table.name.identifier,
        index=sql.Identifier(f"{log.name}_xid"),
        rows=sql.Identifier(f"!{log.name}"),
        truncation=sql.Identifier(f"!{log.name}_all"),
        comment=sql.Literal(f"Changes of {table.name}, for Tidemill"),
        watched=sql.Literal(WATCHED),
    )


def _not_permitted(
    connection: Connection, table: PostgresTable, log: TableName, error: Exception
) -> ExecutionError:
    user = sql.Identifier(connection.info.user).as_string()
    own = "" if log == table.name.log() else f", log={str(log)!r}"
    return ExecutionError(
        f"{connection.info.user} may not watch the table `{table.name}`: "
        f"{' '.join(str(error).split())}",
        help=f"as {table.owner}, who owns it, run once in Python: "
        "tidemill.connectors.postgres.watch("
        f"'postgresql://{table.owner}@{connection.info.host}:{connection.info.port}/"
        f"{connection.info.dbname}', {str(table.name)!r}{own}); and in SQL: "
        f"GRANT SELECT ON {table.name.quoted}, {log.quoted} TO {user}",
    )
