"""A table in PostgreSQL that holds the result of a query."""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections import Counter
from decimal import Decimal
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.connectors.postgres.conftest import Database
from tests.connectors.postgres.replaying import Replay, rows_of, source_of, table_rows
from tests.connectors.postgres.server import PASSWORD
from tests.connectors.postgres.test_values import CASES, told_apart
from tidemill.connectors.postgres import PostgresSink
from tidemill.errors import ExecutionError

COLUMNS = pa.schema([("k", pa.int64()), ("v", pa.string())])


def rows(*values: tuple[Any, ...], schema: pa.Schema = COLUMNS) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(schema.names, v, strict=True)) for v in values], schema)


def sink_of(
    database: Database,
    query: str = "q",
    schema: pa.Schema = COLUMNS,
    whole: bool = True,
    **more: Any,
) -> PostgresSink:
    options = {"url": database.url, "table": "result", **more}
    return PostgresSink(options, query, schema, whole)


def result(database: Database) -> Counter[Any]:
    return table_rows(database, "result")


def tick(database: Database) -> int:
    ((number,),) = database.run("SELECT tick FROM tidemill_sink WHERE target = 'result'")
    return int(number)


def test_a_snapshot_replaces_the_one_before(database: Database) -> None:
    sink = sink_of(database)
    sink(rows((1, "a"), (1, "a"), (None, None), (None, None), (2, "")), 0)
    assert result(database) == Counter({(1, "a"): 2, (None, None): 2, (2, ""): 1})
    sink(rows((1, "a"), (None, None), (None, "x"), (2, ""), (2, None)), 1)
    expected = [(1, "a"), (None, None), (None, "x"), (2, ""), (2, None)]
    assert result(database) == Counter(expected)
    sink(rows(), 2)
    assert result(database) == Counter()
    assert tick(database) == 2


def test_only_what_differs_is_touched(database: Database) -> None:
    """Whoever watches the table sees changes, and not the same rows again and again."""
    sink = sink_of(database)
    sink(rows((1, "a"), (1, "a"), (2, "b")), 0)
    types = {"k": pa.int64(), "v": pa.string()}
    watcher = Replay(source_of(database, "result", types))
    sink(rows((2, "b"), (1, "a"), (1, "a")), 1)
    assert watcher.poll() == []
    sink(rows((2, "b"), (1, "a"), (3, "c")), 2)
    assert Counter(watcher.poll()) == Counter([(-1, (1, "a")), (1, (3, "c"))])


def test_a_tick_counts_once(database: Database) -> None:
    sink = sink_of(database)
    sink(rows((1, "a")), 3)
    sink(rows((9, "again")), 3)
    sink_of(database)(rows((9, "older")), 2)
    assert result(database) == Counter([(1, "a")])
    sink(rows((2, "b")), 4)
    assert result(database) == Counter([(2, "b")])


def test_rows_of_ticks_are_added_once(database: Database) -> None:
    sink = sink_of(database, whole=False)
    sink(rows((1, "a"), (1, "a")), 0)
    sink(rows((1, "a")), 1)
    sink(rows((1, "a")), 1)
    sink_of(database, whole=False)(rows((1, "a")), 0)
    assert result(database) == Counter({(1, "a"): 3})


def test_a_result_with_keys(database: Database) -> None:
    """A row that takes the place of another may come when that one is gone, and not before."""
    database.run("CREATE TABLE result (v text, k bigint PRIMARY KEY)")
    sink = sink_of(database)
    sink(rows((1, "a"), (2, "b")), 0)
    sink(rows((1, "b"), (2, "a")), 1)
    assert result(database) == Counter([("b", 1), ("a", 2)])


def test_names_of_every_kind(database: Database) -> None:
    schema = pa.schema([('"#new"', pa.int64()), ("Größe €", pa.string()), ("%s", pa.int64())])
    database.run('CREATE SCHEMA "Ergebnisse №1"')
    sink = sink_of(database, schema=schema, table='"Ergebnisse №1"."Größen.v2"')
    sink(rows((1, "ü", 5), schema=schema), 0)
    assert table_rows(database, '"Ergebnisse №1"."Größen.v2"') == Counter([(1, "ü", 5)])


RESULT_CASES = {name: case for name, case in CASES.items() if name not in ("tiny", "uuid", "wide")}
RESULT_SCHEMA = pa.schema(
    [(name, kind) for name, (_, kind, _) in RESULT_CASES.items()]
    + [("zoned", pa.timestamp("us", "UTC")), ("list", pa.list_(pa.string()))]
)
# Python has no numbers as short as those of the column `single`.
EXACTLY = ", ".join(f'"{n}"{"::float8" * (n == "single")}' for n in RESULT_SCHEMA.names)
VALUES = [values for _, _, values in RESULT_CASES.values()]
VALUES += [st.datetimes().map(lambda at: at.replace(tzinfo=dt.UTC))]
VALUES += [st.lists(st.none() | st.text('a"\\{},é NUL', max_size=3), max_size=3)]
SNAPSHOT = st.lists(st.tuples(*(st.none() | values for values in VALUES)), max_size=6)


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(snapshots=st.lists(SNAPSHOT, min_size=1, max_size=2))
def test_values(database: Database, snapshots: list[list[tuple[Any, ...]]]) -> None:
    database.run("DROP TABLE IF EXISTS result")
    sink = sink_of(database, schema=RESULT_SCHEMA, replace=True, query=str(time.time_ns()))
    for number, snapshot in enumerate(snapshots):
        # What of it stays must stay as it is, too.
        table = rows(*snapshot, *snapshots[0][:2], schema=RESULT_SCHEMA)
        sink(table, number)
        with database.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'")
            found = connection.execute(f"SELECT {EXACTLY} FROM result").fetchall()
        assert Counter(map(told, found)) == Counter(map(told, rows_of(table)))


def told(row: tuple[Any, ...]) -> tuple[str, ...]:
    # 0 and -0 are the same to PostgreSQL, so the one that is there stays.
    return told_apart(tuple(0.0 if value == 0.0 else value for value in row))


FEW = st.lists(st.tuples(st.none() | st.integers(0, 2), st.none() | st.sampled_from("ab")))


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(snapshots=st.lists(FEW, min_size=1, max_size=5))
def test_copies(database: Database, snapshots: list[list[tuple[Any, ...]]]) -> None:
    sink = sink_of(database, replace=True, query=str(time.time_ns()))
    for number, snapshot in enumerate(snapshots):
        sink(rows(*snapshot), number)
        assert result(database) == Counter(snapshot)


def test_other_queries_are_refused(database: Database) -> None:
    first = sink_of(database, "first")
    first(rows((1, "a")), 7)
    with pytest.raises(ExecutionError, match="holds the result of another query") as caught:
        sink_of(database, "second")
    assert "replace => true" in (caught.value.help or "")
    second = sink_of(database, "second", replace="true")
    second(rows((2, "b")), 0)
    assert result(database) == Counter([(2, "b")])
    with pytest.raises(ExecutionError, match="another query has taken over"):
        first(rows((1, "a")), 8)
    assert result(database) == Counter([(2, "b")])


def test_rows_that_were_added_are_replaced_at_once(database: Database) -> None:
    sink_of(database, "first", whole=False)(rows((1, "a")), 0)
    sink_of(database, "second", whole=False, replace=True)
    assert result(database) == Counter()


def test_tables_of_others_are_refused(database: Database) -> None:
    database.run("CREATE TABLE result (k bigint, v text)", "INSERT INTO result VALUES (1, 'mine')")
    with pytest.raises(ExecutionError, match="has rows that no query has written"):
        sink_of(database)
    assert result(database) == Counter([(1, "mine")])
    sink_of(database, replace=True)(rows(), 0)
    assert result(database) == Counter()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("TABLE result (k bigint)", "it lacks `v`"),
        ("TABLE result (k bigint, v text, w int)", "it also has `w`"),
        ("TABLE result (k integer, v text)", "`k` is integer, not bigint"),
        ("TABLE result (k bigint, v varchar(5))", r"`v` is character varying\(5\), not text"),
        ("VIEW result AS SELECT 1::bigint AS k, 'a'::text AS v", "is a view"),
    ],
)
def test_tables_that_do_not_fit(database: Database, table: str, message: str) -> None:
    database.run(f"CREATE {table}")
    with pytest.raises(ExecutionError, match=message):
        sink_of(database)


@pytest.mark.parametrize("kind", [pa.struct([("a", pa.int64())]), pa.list_(pa.list_(pa.int64()))])
def test_types_that_no_column_holds(database: Database, kind: pa.DataType) -> None:
    with pytest.raises(ExecutionError, match=r"`x` is .*, which no column of PostgreSQL can hold"):
        sink_of(database, schema=pa.schema([("x", kind)]))


def test_values_that_no_text_holds(database: Database) -> None:
    sink = sink_of(database)
    sink(rows((1, "a")), 0)
    with pytest.raises(ExecutionError, match="0x00"):
        sink(rows((1, "a\0")), 1)
    assert (tick(database), result(database)) == (0, Counter([(1, "a")]))


def test_widening(database: Database) -> None:
    database.run("CREATE TABLE result (a bigint, b numeric)")
    schema = pa.schema([("a", pa.int32()), ("b", pa.decimal128(5, 2))])
    sink_of(database, schema=schema)(rows((1, Decimal("1.50")), schema=schema), 0)
    assert result(database) == Counter([(1, Decimal("1.50"))])


def test_a_server_that_goes_away_in_the_middle(database: Database) -> None:
    sink = sink_of(database)
    sink(rows((1, "a")), 0)
    other = database.connect()
    other.execute("BEGIN")
    other.execute("LOCK TABLE result")  # so that the tick waits, after its rows were copied
    writing = threading.Thread(target=sink, args=(rows((2, "b")), 1))
    writing.start()
    while database.run("SELECT count(*) FROM pg_locks WHERE NOT granted") == [(0,)]:
        time.sleep(0.01)
    database.server.stop()
    with pytest.raises(psycopg.OperationalError):
        other.execute("COMMIT")
    other.close()
    database.server.start()
    writing.join()
    assert (tick(database), result(database)) == (1, Counter([(2, "b")]))


def test_a_server_that_stays_away(database: Database) -> None:
    sink = sink_of(database, retry="0.3 seconds")
    sink(rows((1, "a")), 0)
    database.server.stop()
    with pytest.raises(ExecutionError, match="cannot be used") as caught:
        sink(rows((2, "b")), 1)
    assert database.place in caught.value.message
    assert PASSWORD not in str(caught.value)
    database.server.start()
    assert (tick(database), result(database)) == (0, Counter([(1, "a")]))
    sink(rows((2, "b")), 1)
    assert result(database) == Counter([(2, "b")])
