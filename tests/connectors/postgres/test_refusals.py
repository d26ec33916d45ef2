"""What cannot be read, or can no longer be read exactly, is refused in words."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import tidemill as tm
from tests.connectors.postgres.conftest import Database
from tests.connectors.postgres.replaying import Replay, source_of
from tests.connectors.postgres.server import PASSWORD
from tidemill.algebra import Schema, SourceKind
from tidemill.catalog import SourceInfo
from tidemill.connectors.postgres import open_source, prune, watch
from tidemill.errors import ExecutionError

TABLE = "CREATE TABLE t (k int, v text)"

# What is done to the table of a relation (k INT, v STRING) between two looks, and what is said.
CHANGED = {
    "dropped column": (["ALTER TABLE t DROP COLUMN v"], "has no column `v`"),
    "other type": (["ALTER TABLE t ALTER k TYPE bigint"], "is bigint, and cannot be read as INT"),
    "renamed column": (["ALTER TABLE t RENAME v TO w"], "has no column `v`"),
    "narrower type": (["ALTER TABLE t ALTER k TYPE int2"], "is now smallint, and was integer"),
    "column made anew": (
        ["ALTER TABLE t DROP COLUMN v", "ALTER TABLE t ADD COLUMN v text"],
        "`v` of the table `public.t` was dropped and created again",
    ),
    "table made anew": (["DROP TABLE t", TABLE], "`public.t` was dropped and created again"),
    "table gone": (["DROP TABLE t"], "there is no table `t`"),
    "triggers off": (["ALTER TABLE t DISABLE TRIGGER ALL"], "is no longer watched"),
    "function gone": (["DROP FUNCTION tidemill_log_t() CASCADE"], "is no longer watched"),
    "parts": (["CREATE TABLE part () INHERITS (t)"], "it is a view, or has child tables"),
}


@pytest.mark.parametrize(("statements", "message"), CHANGED.values(), ids=CHANGED)
def test_a_schema_that_changed(database: Database, statements: list[str], message: str) -> None:
    database.run(TABLE)
    replay = Replay(source_of(database))
    # The log must never stand in the way of those whose table it is.
    database.run("INSERT INTO t VALUES (1, '1')", *statements)
    if statements != ["DROP TABLE t"]:
        database.run("INSERT INTO t (k) VALUES (2)")
    with pytest.raises(ExecutionError, match=message.replace("(", r"\(")) as caught:
        replay.poll()
    assert caught.value.help


def test_a_gap_in_the_watch(database: Database) -> None:
    database.run(TABLE)
    replay = Replay(source_of(database))
    database.run(
        "ALTER TABLE t DISABLE TRIGGER ALL",
        "INSERT INTO t VALUES (1, 'unheard')",
        "ALTER TABLE t ENABLE TRIGGER ALL",
    )
    replay.source = source_of(database)  # which puts the triggers in place again
    with pytest.raises(ExecutionError, match="were not all logged") as caught:
        replay.poll()
    assert "another checkpoint" in str(caught.value)
    assert Replay(replay.source).poll() == []


def test_pruning(database: Database) -> None:
    database.run(TABLE)
    stale, current = Replay(source_of(database)), Replay(source_of(database))
    database.run("INSERT INTO t VALUES (1, 'a')", "INSERT INTO t VALUES (2, 'b')")
    current.poll()
    assert prune(database.url, "t", keep="1 day") == 0
    assert prune(database.url, "t", keep="0 seconds") == 2
    assert prune(database.url, "t", keep="0 seconds") == 0
    database.run("INSERT INTO t VALUES (3, 'c')")
    assert current.poll() == [(1, (3, "c"))]
    with pytest.raises(ExecutionError, match="that were not read yet were pruned"):
        stale.poll()


def test_pruning_while_a_transaction_is_open(database: Database) -> None:
    database.run(TABLE)
    source = source_of(database)
    with database.connect() as long:
        long.execute("BEGIN")
        long.execute("INSERT INTO t VALUES (1, 'long')")
        replay = Replay(source)
        long.execute("COMMIT")
    prune(database.url, "t", keep="0 seconds")
    with pytest.raises(ExecutionError, match="were pruned"):
        replay.poll()


@pytest.mark.parametrize(
    "other",
    [{"server": "1234"}, {"snapshot": "999999999:999999999:"}],
    ids=["another server", "an earlier state"],
)
def test_a_position_of_another_server(database: Database, other: dict[str, str]) -> None:
    database.run(TABLE)
    replay = Replay(source_of(database))
    replay.position = json.dumps(json.loads(replay.position) | other)
    with pytest.raises(ExecutionError, match="not the server from which"):
        replay.poll()


def test_what_others_must_do(database: Database) -> None:
    """Who may not install the log is told who may, and how; done so, it works."""
    reader = "reader"
    database.run(
        TABLE,
        f"DROP ROLE IF EXISTS {reader}",
        f"CREATE ROLE {reader} LOGIN PASSWORD '{PASSWORD}'",
        f"GRANT SELECT ON t TO {reader}",
    )
    url = database.server.url(database.name, reader)
    with pytest.raises(ExecutionError, match=f"{reader} may not watch the table") as caught:
        source_of(database, url=url)
    help = caught.value.help or ""
    command, _, grant = help.partition("; and in SQL: ")
    assert command.startswith("as postgres, who owns it, run once")
    assert PASSWORD not in str(caught.value)
    watch(database.url, "public.t")
    with pytest.raises(ExecutionError, match="permission denied") as again:
        source_of(database, url=url)
    assert again.value.help == help
    database.run(grant)
    replay = Replay(source_of(database, url=url))
    database.run("INSERT INTO t VALUES (1, 'a')")
    assert replay.poll() == [(1, (1, "a"))]


def test_a_table_that_others_keep_locked(database: Database) -> None:
    database.run(TABLE)
    with database.connect() as other:
        other.execute("BEGIN")
        other.execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(ExecutionError, match="lock timeout"):
            source_of(database, retry="0.5 seconds")
        waiting = threading.Timer(0.5, lambda: other.execute("COMMIT"))
        waiting.start()
        source_of(database).content()
        waiting.join()


def test_one_log_for_two_tables(database: Database) -> None:
    database.run(TABLE, "CREATE TABLE u (k int, v text)")
    source_of(database, log="l")
    with pytest.raises(ExecutionError, match=r"`public.l` is the log of the table t already"):
        source_of(database, "u", log="l")


WRONG: dict[str, tuple[Callable[[], dict[str, Any]], str]] = {
    "no table": (lambda: {"table": "T"}, "did you mean `t`?"),
    "no name": (lambda: {"table": "a.b.c"}, "is not the name of a table"),
    "misspelt": (lambda: {"tabel": "t"}, "did you mean `table`?"),
    "no wait": (lambda: {"retry": "soon"}, "'soon' is not a duration"),
    "no instant": (lambda: {"instants": "now"}, "instants => 'seen' or 'made'"),
    "view": (lambda: {"table": "v"}, "cannot be watched"),
    "long log": (lambda: {"log": "l" * 51}, "is too long"),
    "no url": (lambda: {"url": f"postgers:/u:{PASSWORD}@h/d"}, "neither a PostgreSQL URL"),
}


@pytest.mark.parametrize(("options", "message"), WRONG.values(), ids=WRONG)
def test_wrong_options(
    database: Database, options: Callable[[], dict[str, Any]], message: str
) -> None:
    database.run(TABLE, "CREATE VIEW v AS SELECT * FROM t")
    with pytest.raises(ExecutionError) as caught:
        source_of(database, **options())
    assert message in str(caught.value)
    assert PASSWORD not in str(caught.value)


def test_options_have_names() -> None:
    for arguments, options in ((("t",), {"table": "t"}), ((), {"url": "postgresql://"})):
        info = SourceInfo(
            "r", Schema(()), SourceKind.CHANGING, arguments=arguments, options=options
        )
        with pytest.raises(ExecutionError, match=r"options without names|needs the option table"):
            open_source(info)


@pytest.mark.parametrize(
    ("kind", "declared", "help"),
    [
        ("int8", pa.int32(), "declare it BIGINT"),
        ("text", pa.int64(), "declare it STRING"),
        ("numeric", pa.float64(), "declare it DECIMAL"),
        ("jsonb", pa.string(), "leave it out"),
        ("int4[]", pa.list_(pa.int32()), "leave it out"),
        ("interval", pa.duration("us"), "leave it out"),
    ],
)
def test_types_that_do_not_fit(
    database: Database, kind: str, declared: pa.DataType, help: str
) -> None:
    database.run(f"CREATE TABLE t (k {kind})")
    with pytest.raises(ExecutionError, match="cannot be read as") as caught:
        source_of(database, types={"k": declared}).content()
    assert (caught.value.help or "").startswith(help)


def test_domains_and_enumerations(database: Database) -> None:
    database.run(
        "CREATE TYPE mood AS ENUM ('sad', 'glad')",
        "CREATE DOMAIN price AS numeric(8, 2) CHECK (VALUE >= 0)",
        "CREATE TABLE t (m mood, p price)",
    )
    types = {"m": pa.string(), "p": pa.decimal128(8, 2)}
    replay = Replay(source_of(database, types=types))
    database.run("INSERT INTO t VALUES ('glad', 1.5)")
    assert [str(value) for value in replay.poll()[0][1]] == ["glad", "1.50"]


def test_statements_are_shown_without_their_passwords() -> None:
    engine = tm.Engine("inprocess")
    engine.stream("s", [{"k": 1, "at": 1}], time="at")
    url = f"postgresql://ann:{PASSWORD}@host/shop"
    into = f"INSERT INTO postgres(url => '{url}', password => '{PASSWORD}', table => 't')"
    query = engine.sql(f"{into} SELECT k FROM s")
    assert query is not None
    shown = [repr(query), repr(query.job.sink), query.explain("verbose")]
    with pytest.raises(tm.TidemillError) as caught:
        engine.sql(f"{into} SELECT kk FROM s")
    for text in [*shown, str(caught.value)]:
        assert PASSWORD not in text
