"""What the language accepts, how it prints back, and what it says to the rest."""

from __future__ import annotations

import logging
from pathlib import Path
from time import process_time

import pytest
import sqlglot
from sqlglot import exp

from tidemill import Engine
from tidemill.errors import PlanError, SqlSyntaxError, TidemillError
from tidemill.sql import (
    CreateDerived,
    CreateRelation,
    CreateStream,
    DropObject,
    Duration,
    GranularityClause,
    InsertInto,
    Position,
    QueryStatement,
    RowCount,
    Statement,
    StreamFunction,
    StreamWindow,
    Tidemill,
    Unbounded,
    error_at,
    parse,
    parse_one,
    position_of,
)

FIXTURES = Path(__file__).parent / "fixtures"


def text_of(name: str) -> str:
    return (FIXTURES / name).read_text(encoding="utf-8")


VALID = [line for line in text_of("valid.sql").splitlines() if not line.startswith("--")]
NEXMARK = [block for block in text_of("nexmark.sql").split("\n\n") if block.strip()]
PRINTED = [block.split("\n=> ") for block in text_of("printed.txt").split("\n\n") if block.strip()]
INVALID = [block.split("\n----\n") for block in text_of("invalid.txt").split("\n====\n")[:-1]]


def printed(statement: Statement) -> str:
    return statement.tree.sql(dialect=Tidemill)


def error_of(sql: str) -> TidemillError | None:
    try:
        parse(sql)
    except TidemillError as error:
        return error
    return None


def window_of(sql: str) -> StreamWindow:
    window = parse_one(sql).tree.find(StreamWindow)
    assert window is not None
    return window


@pytest.mark.parametrize("sql", [*VALID, *NEXMARK])
def test_round_trip(sql: str) -> None:
    statements = parse(sql)
    assert statements
    for statement in statements:
        again = parse_one(printed(statement))
        assert again.tree == statement.tree
        assert printed(again) == printed(statement)
        assert parse_one(statement.tree.sql(dialect=Tidemill, pretty=True)).tree == statement.tree


@pytest.mark.parametrize(("sql", "expected"), PRINTED, ids=[sql for sql, _ in PRINTED])
def test_printed(sql: str, expected: str) -> None:
    assert printed(parse_one(sql)) == expected.strip()


@pytest.mark.parametrize(("sql", "expected"), INVALID, ids=[sql for sql, _ in INVALID])
def test_error_text(sql: str, expected: str) -> None:
    with pytest.raises(SqlSyntaxError) as caught:
        parse(sql)
    assert str(caught.value) == expected
    assert caught.value.sql == sql


@pytest.mark.parametrize("sql", [*VALID, *NEXMARK])
def test_damaged_statements_fail_politely(sql: str, caplog: pytest.LogCaptureFixture) -> None:
    tokens = Tidemill().tokenize(sql)
    damaged = [sql[: token.start] + sql[token.end + 1 :] for token in tokens]
    damaged += [sql[: token.end + 1] for token in tokens]
    with caplog.at_level(logging.CRITICAL, "sqlglot"):
        for text in damaged:
            error = error_of(text)
            assert error is None or error.line is not None, text


def test_window_nodes() -> None:
    time = window_of("SELECT * FROM s WINDOW(RANGE 10 MINUTES SLIDE 30 SECONDS)")
    assert time.text("kind") == "RANGE"
    assert (time.args["size"].micros, time.args["slide"].micros) == (600_000_000, 30_000_000)
    ticks = window_of("SELECT * FROM s WINDOW(RANGE 10)").args["size"]
    assert isinstance(ticks, Duration)
    assert (ticks.unit, ticks.ticks) == (None, 10)
    rows = window_of("SELECT * FROM s [PARTITION BY a, b ROWS 3]")
    assert isinstance(rows.args["size"], RowCount)
    assert (rows.args["size"].value, [c.name for c in rows.args["partition_by"]]) == (3, ["a", "b"])
    assert isinstance(window_of("SELECT * FROM s [ROWS UNBOUNDED]").args["size"], Unbounded)
    assert window_of("SELECT * FROM s [NOW]").text("kind") == "NOW"
    bounds = window_of("SELECT * FROM s WINDOW(ROWS MIN 50, MAX 200)")
    assert (bounds.args["min"].value, bounds.args["max"].value) == (50, 200)


def test_duration_has_one_measure() -> None:
    with pytest.raises(ValueError, match="no length"):
        _ = Duration(this=exp.Literal.number(1)).micros
    with pytest.raises(ValueError, match="no number of ticks"):
        _ = Duration(this=exp.Literal.number(1), unit=exp.var("DAY")).ticks


@pytest.mark.parametrize(
    "source",
    [
        "Bid AS B WINDOW(RANGE 5) GRANULARITY(2)",
        "Bid WINDOW(RANGE 5) AS B GRANULARITY(2)",
        "Bid [RANGE 5] GRANULARITY(2) B",
        "(SELECT * FROM Bid) B [RANGE 5] GRANULARITY(2)",
        "(SELECT * FROM Bid) WINDOW(RANGE 5) B GRANULARITY(2)",
        "ISTREAM(Bid) WINDOW(RANGE 5) GRANULARITY(2) AS B",
    ],
)
def test_alias_stands_anywhere(source: str) -> None:
    table = parse_one(f"SELECT * FROM {source}").tree.args["from_"].this
    assert table.alias == "B"
    assert isinstance(table.args["stream_window"], StreamWindow)
    assert isinstance(table.args["granularity"], GranularityClause)


def test_stream_functions() -> None:
    table = parse_one("SELECT * FROM Istream(Person) AS P").tree.args["from_"].this
    assert isinstance(table.this, StreamFunction)
    assert (table.this.text("kind"), table.this.this.name) == ("ISTREAM", "Person")
    inside = parse_one("SELECT ISTREAM(a, b) FROM s [ROWS 5] WHERE a > 1").tree
    around = parse_one("ISTREAM(SELECT a, b FROM s [ROWS 5] WHERE a > 1)").tree
    assert inside == around
    both = parse_one("SELECT ISTREAM(*) FROM s UNION ALL SELECT DSTREAM(*) FROM s").tree
    assert [side.text("kind") for side in (both.this, both.expression)] == ["ISTREAM", "DSTREAM"]


def test_casts() -> None:
    strict, lenient = parse_one("SELECT CAST(a AS INT), TRY_CAST(a AS INT) FROM s").tree.expressions
    assert type(strict) is exp.Cast
    assert type(lenient) is exp.TryCast


def test_statements() -> None:
    script = """
    -- the bids
    CREATE STREAM bid (ts TIMESTAMP, item INT) SOURCE parquet(path => 'b/', n => -1, x.y => TRUE)
        ORDERED BY ts SLACK 5 SECONDS;
    CREATE RELATION c (id INT, a INT, z INT) SOURCE csv('x', 2) VALID FROM a TO z;
    CREATE RELATION d AS SELECT * FROM bid [ROWS 5];
    INSERT INTO console() SELECT * FROM bid; ;
    SELECT * FROM bid; -- done
    DROP STREAM IF EXISTS bid
    """
    create, relation, derived, insert, query, drop = parse(script)
    assert isinstance(create, CreateStream)
    assert create.connector.options == {"path": "b/", "n": -1, "x.y": True}
    assert (create.name, create.connector.format) == ("bid", "parquet")
    assert create.ordered_by is not None
    assert create.slack is not None
    assert (create.ordered_by.name, create.slack.micros) == ("ts", 5_000_000)
    assert [column.name for column in create.columns] == ["ts", "item"]
    assert isinstance(relation, CreateRelation)
    assert relation.connector.arguments == ("x", 2)
    assert relation.valid_to is not None
    assert relation.valid_to.name == "z"
    assert isinstance(derived, CreateDerived)
    assert (derived.kind, derived.name) == ("RELATION", "d")
    assert isinstance(insert, InsertInto)
    assert insert.sink.format == "console"
    assert isinstance(query, QueryStatement)
    assert (query.sql, query.position) == ("SELECT * FROM bid", Position(8, 5, 6))
    assert isinstance(drop, DropObject)
    assert drop.if_exists
    assert query.source.text == script


def test_one_statement() -> None:
    assert parse(" -- nothing\n") == []
    with pytest.raises(SqlSyntaxError, match="no statement"):
        parse_one("")
    with pytest.raises(SqlSyntaxError, match="second"):
        parse_one("SELECT 1; SELECT 2")


def test_deep_nesting_is_an_error() -> None:
    with pytest.raises(SqlSyntaxError, match="nested too deeply"):
        parse("SELECT " + "(" * 5000 + "1" + ")" * 5000)


NESTED = "a = 0"
for number in range(200):
    NESTED = f"({NESTED} {'AND' if number % 2 else 'OR'} b <> {number})"


@pytest.mark.parametrize(
    "condition",
    [
        "(" * 200 + "a = 1" + ")" * 200,
        NESTED,
        " AND ".join(f"a <> {number}" for number in range(2, 1002)),
        " OR ".join(f"a = {number}" for number in range(1000)),
    ],
    ids=["parentheses", "nested", "and", "or"],
)
def test_conditions_may_be_long_and_deep(condition: str) -> None:
    """Twice: what was learnt about a condition is found again."""
    engine = Engine(runtime="inprocess")
    engine.stream("s", [{"a": 1, "b": 201, "at": 1}], time="at")
    began = process_time()
    query = engine.sql(f"SELECT a FROM s WINDOW(RANGE 5) WHERE {condition}")
    assert process_time() - began < 3  # a second, on a machine with nothing else to do
    assert query.collect().num_rows == 1
    assert engine.sql(f"SELECT b FROM s WINDOW(RANGE 5) WHERE {condition}").collect().num_rows == 1


@pytest.mark.parametrize(
    ("start", "middle", "end"),
    [
        ("(", "a = 1", ")"),
        ("NOT ", "a = 1", ""),
        ("- ", "a = 1", ""),
        ("CASE WHEN a = 1 THEN ", "TRUE", " END"),
        ("abs(", "a", ")"),
        ("a IN (SELECT a FROM s WHERE ", "a = 1", ")"),
        ("array(", "a", ")"),
    ],
)
def test_hostile_nesting_is_refused_at_once(start: str, middle: str, end: str) -> None:
    for depth in (500, 20_000):
        with pytest.raises(SqlSyntaxError, match="nested too deeply"):
            parse(f"SELECT a FROM s WHERE {start * depth}{middle}{end * depth}")


def test_positions() -> None:
    sql = "SELECT b.x + f(b.y, 1),\n  COUNT(*), (a + b) * c, TRUE, CAST(a\n AS INT), 'é'\nFROM s"
    expressions = parse_one(sql).tree.expressions
    lines = sql.split("\n")
    found = [position_of(expression) for expression in expressions]
    texts = [lines[p.line - 1][p.column - 1 :][: p.length] for p in found if p]
    assert texts == ["b.x + f(b.y, 1)", "COUNT(*)", "(a + b) * c", "TRUE", "CAST(a", "'é'"]
    window = window_of("SELECT *\nFROM s AS t WINDOW(RANGE 10 MINUTES)")
    assert position_of(window) == Position(2, 13, 24)
    assert position_of(window.args["size"]) == Position(2, 26, 10)
    assert position_of(exp.column("a")) is None


def test_positions_survive_copies() -> None:
    tree = parse_one("SELECT a,\n  b FROM s").tree
    column = tree.copy().expressions[1]
    assert position_of(column) == Position(2, 3, 1)
    error = error_at(PlanError, "unknown column `b`", column, "columns: a")
    assert str(error).splitlines() == [
        "error: unknown column `b`",
        "  line 2, column 3",
        "      b FROM s",
        "      ^",
        "help: columns: a",
    ]


def test_works_as_a_dialect_of_sqlglot() -> None:
    tree = sqlglot.parse_one("SELECT * FROM s [ROWS 5]", dialect="tidemill")
    assert tree.sql(dialect="tidemill") == "SELECT * FROM s WINDOW(ROWS 5)"
