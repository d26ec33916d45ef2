"""A table in PostgreSQL as a relation: what is there, and what is changed."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from tests.connectors.postgres.conftest import Database
from tests.connectors.postgres.replaying import Replay, changes_of, rows_of, source_of, table_rows
from tidemill.algebra import SourceKind
from tidemill.connectors.change_source import INSTANT
from tidemill.errors import ExecutionError

TABLE = "CREATE TABLE t (k int, v text)"


def test_content_and_changes(database: Database) -> None:
    database.run(TABLE, "INSERT INTO t VALUES (1, 'a'), (1, 'a'), (NULL, NULL), (2, '')")
    replay = Replay(source_of(database))
    assert replay.rows == Counter([(1, "a"), (1, "a"), (None, None), (2, "")])
    assert replay.poll() == []
    database.run(
        "INSERT INTO t VALUES (NULL, 'n'), (3, 'c')",
        "UPDATE t SET v = 'x' WHERE k = 2",
        "DELETE FROM t WHERE k = 1 AND ctid = (SELECT min(ctid) FROM t)",
    )
    assert replay.poll() == [
        (1, (None, "n")),
        (1, (3, "c")),
        (-1, (2, "")),
        (1, (2, "x")),
        (-1, (1, "a")),
    ]
    assert replay.rows == table_rows(database)
    assert replay.poll() == []


def test_a_position_can_be_read_from_again(database: Database) -> None:
    database.run(TABLE)
    source = source_of(database)
    _, start = source.content()
    database.run("INSERT INTO t VALUES (1, 'a')")
    first, _ = source.changes(start)
    database.run("INSERT INTO t VALUES (2, 'b')")
    again, _ = source_of(database).changes(start)
    assert changes_of(first) == [(1, (1, "a"))]
    assert changes_of(again) == [(1, (1, "a")), (1, (2, "b"))]


def test_truncate_deletes_every_row(database: Database) -> None:
    database.run(TABLE, "INSERT INTO t VALUES (1, 'a'), (1, 'a'), (NULL, 'b')")
    replay = Replay(source_of(database))
    database.run("TRUNCATE t", "INSERT INTO t VALUES (5, 'e')")
    assert replay.poll()[-1] == (1, (5, "e"))
    assert replay.rows == Counter([(5, "e")])


def test_truncate_that_may_not_see_all_rows_is_refused(database: Database) -> None:
    database.run(TABLE)
    source_of(database)
    with database.connect() as connection, connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        with pytest.raises(psycopg.errors.RaiseException, match="Tidemill watches"):
            connection.execute("TRUNCATE t")
        connection.execute("ROLLBACK")


def test_commits_decide_and_not_the_order_of_writing(database: Database) -> None:
    database.run(TABLE)
    with database.connect() as early, database.connect() as late:
        source_of(database)  # is watched
        early.execute("BEGIN")
        early.execute("INSERT INTO t VALUES (1, 'early')")
        replay = Replay(source_of(database))
        late.execute("BEGIN")
        late.execute("INSERT INTO t VALUES (2, 'late')")
        late.execute("COMMIT")
        assert replay.poll() == [(1, (2, "late"))]
        early.execute("INSERT INTO t VALUES (3, 'early')")
        assert replay.poll() == []
        early.execute("COMMIT")
        assert replay.poll() == [(1, (1, "early")), (1, (3, "early"))]


def test_what_is_rolled_back_never_was(database: Database) -> None:
    database.run(TABLE)
    replay = Replay(source_of(database))
    with database.connect() as connection:
        connection.execute("BEGIN")
        connection.execute("INSERT INTO t VALUES (1, 'kept')")
        connection.execute("SAVEPOINT s")
        connection.execute("INSERT INTO t VALUES (2, 'gone')")
        connection.execute("ROLLBACK TO s")
        connection.execute("COMMIT")
        connection.execute("BEGIN")
        connection.execute("INSERT INTO t VALUES (3, 'gone')")
        connection.execute("ROLLBACK")
    assert replay.poll() == [(1, (1, "kept"))]


def test_prepared_transactions_count_from_their_commit(database: Database) -> None:
    database.run(TABLE)
    source_of(database)
    with database.connect() as connection:
        connection.execute("BEGIN")
        connection.execute("INSERT INTO t VALUES (1, 'two phases')")
        connection.execute("PREPARE TRANSACTION 'p'")
    replay = Replay(source_of(database))
    assert replay.rows == Counter()
    database.run("INSERT INTO t VALUES (2, 'one phase')")
    assert replay.poll() == [(1, (2, "one phase"))]
    database.run("COMMIT PREPARED 'p'")
    assert replay.poll() == [(1, (1, "two phases"))]


def test_who_pretends_to_be_a_replica_is_heard(database: Database) -> None:
    database.run(TABLE)
    replay = Replay(source_of(database))
    database.run("SET session_replication_role = replica", "INSERT INTO t VALUES (1, 'a')")
    assert replay.poll() == [(1, (1, "a"))]


def test_instants_are_when_changes_were_made(database: Database) -> None:
    database.run(TABLE)
    source = source_of(database, instants="made")
    _, position = source.content()
    ((before,),) = database.run("SELECT clock_timestamp()")
    database.run("INSERT INTO t VALUES (1, 'a')")
    changes, _ = source.changes(position)
    assert changes.schema.field(INSTANT).type == pa.int64()
    (instant,) = changes[INSTANT].to_pylist()
    assert 0 <= instant - int(before.timestamp() * 1_000_000) < 60_000_000
    changes, _ = source_of(database).changes(position)
    assert changes[INSTANT].to_pylist() == [None]


def test_names_of_every_kind(database: Database) -> None:
    database.run(
        'CREATE SCHEMA "Lager №1"',
        'CREATE TABLE "Lager №1"."Käufe.v2 ""neu""" ("Größe €" int, op text, at int, "l" int)',
    )
    types = dict.fromkeys(["Größe €", "at", "l"], pa.int32()) | {"op": pa.string()}
    name = '"Lager №1"."Käufe.v2 ""neu"""'
    replay = Replay(source_of(database, name, types))
    database.run(f"INSERT INTO {name} VALUES (1, 'ü', 2, 3)")
    assert replay.poll() == [(1, (1, 2, 3, "ü"))]


def test_long_names(database: Database) -> None:
    tables = [f"{'ü' * 30}{end}" for end in "ab"]
    for table in tables:
        database.run(f"CREATE TABLE {table} (k int, v text)")
    replays = [Replay(source_of(database, table)) for table in tables]
    database.run(f"INSERT INTO {tables[1]} VALUES (1, 'b')")
    assert [replay.poll() for replay in replays] == [[], [(1, (1, "b"))]]


def test_other_columns_come_and_go(database: Database) -> None:
    database.run("CREATE TABLE t (other xml, k int, gone int, v text)")
    replay = Replay(source_of(database))
    database.run(
        "ALTER TABLE t DROP COLUMN gone",
        "ALTER TABLE t ADD COLUMN new jsonb DEFAULT '{}'",
        "INSERT INTO t (k, v) VALUES (1, 'a')",
    )
    assert replay.poll() == [(1, (1, "a"))]


def test_columns_that_nothing_tells_from_no_line(database: Database) -> None:
    database.run("CREATE TABLE t (v text)", "INSERT INTO t VALUES (NULL), (''), (NULL), (E'\\n')")
    content, _ = source_of(database, types={"v": pa.string()}).content()
    assert Counter(rows_of(content)) == Counter([(None,), (None,), ("",), ("\n",)])


def test_a_text_longer_than_any_block(database: Database) -> None:
    database.run(TABLE)
    replay = Replay(source_of(database))
    database.run("INSERT INTO t VALUES (1, repeat(E'ä\\n', 2000000)), (2, 'short')")
    assert len(replay.poll()[0][1][1]) == 4_000_000
    assert replay.rows == Replay(replay.source).rows


def test_a_constant_relation_is_not_watched(database: Database) -> None:
    database.run(TABLE, "INSERT INTO t VALUES (1, 'a')", "CREATE VIEW seen AS SELECT * FROM t")
    content, _ = source_of(database, "seen", kind=SourceKind.CONSTANT).content()
    assert rows_of(content) == [(1, "a")]
    assert database.run("SELECT count(*) FROM pg_trigger") == [(0,)]


def test_a_log_of_ones_own(database: Database) -> None:
    database.run(TABLE, "CREATE SCHEMA logs")
    replay = Replay(source_of(database, log="logs.of_t"))
    database.run("INSERT INTO t VALUES (1, 'a')")
    assert replay.poll() == [(1, (1, "a"))]
    assert database.run("SELECT op FROM logs.of_t ORDER BY seq") == [(2,), (1,)]


def test_moments_of_time(database: Database) -> None:
    database.run("CREATE TABLE t (zoned timestamptz, bare timestamp)")
    types = dict.fromkeys(["zoned", "bare"], pa.timestamp("us"))
    replay = Replay(source_of(database, types=types))
    with database.connect() as connection:
        connection.execute("SET TimeZone = 'Asia/Kathmandu'")
        connection.execute("INSERT INTO t VALUES ('2024-01-01 12:00', '2024-01-01 12:00')")
    wanted: tuple[Any, ...] = (dt.datetime(2024, 1, 1, 6, 15), dt.datetime(2024, 1, 1, 12))
    assert replay.poll() == [(1, wanted)]
    assert Replay(replay.source).rows == Counter([wanted])


def test_values_that_no_declared_type_holds(database: Database) -> None:
    database.run("CREATE TABLE t (at timestamp, price numeric)")
    types = {"at": pa.timestamp("us"), "price": pa.decimal128(5, 2)}
    database.run("INSERT INTO t VALUES (NULL, 1.50000), (NULL, NULL)")
    content, _ = source_of(database, types=types).content()
    assert [str(row[1]) for row in rows_of(content)] == ["1.50", "None"]
    for value, column in [("NULL, 1.001", "price"), ("NULL, 'NaN'", "price"), ("'infinity'", "at")]:
        database.run("TRUNCATE t", f"INSERT INTO t VALUES ({value})")
        with pytest.raises(ExecutionError, match=f"a value of the column `{column}` is no "):
            source_of(database, types=types).content()
