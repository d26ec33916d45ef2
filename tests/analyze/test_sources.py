from __future__ import annotations

import pyarrow as pa
import pytest

from tidemill.algebra import SourceKind
from tidemill.analyze import source_from_statement
from tidemill.catalog import SourceInfo
from tidemill.errors import PlanError
from tidemill.sql import CreateRelation, CreateStream, parse_one
from tidemill.timeline import TimeDomain


def declared(sql: str) -> SourceInfo:
    statement = parse_one(sql)
    assert isinstance(statement, CreateStream | CreateRelation)
    return source_from_statement(statement)


def test_stream_with_integer_time() -> None:
    info = declared(
        "CREATE STREAM s (a INT, t BIGINT) SOURCE csv(path => 'x', n => 1) ORDERED BY t SLACK 5"
    )
    assert (info.name, info.kind, info.domain) == ("s", SourceKind.STREAM, TimeDomain.TICKS)
    assert (info.time_column, info.time_type, info.slack) == ("t", pa.int64(), 5)
    assert (str(info.schema), info.format) == ("a INT", "csv")
    assert info.options == {"path": "x", "n": 1}


def test_stream_with_timestamps() -> None:
    info = declared(
        "CREATE STREAM s (a INT, T TIMESTAMP) SOURCE csv() ORDERED BY t SLACK 1.5 SECONDS"
    )
    assert (info.domain, info.time_column) == (TimeDomain.MICROSECONDS, "T")
    assert info.slack == 1_500_000


def test_how_long_rows_are_kept() -> None:
    ticks = "CREATE STREAM s (a INT, t BIGINT) ORDERED BY t SLACK 5"
    assert declared(ticks).retain is None
    assert declared(f"{ticks} RETAIN 100").retain == 100
    times = "CREATE STREAM s (a INT, t TIMESTAMP) ORDERED BY t RETAIN 1 HOUR"
    assert declared(times).retain == 3_600_000_000
    # Without a time of their own, rows have that of their arrival.
    assert declared("CREATE STREAM s (a INT) SOURCE csv() RETAIN 2 SECONDS").retain == 2_000_000


def test_stream_without_order_takes_the_clock() -> None:
    info = declared("CREATE STREAM s (a INT) SOURCE rate()")
    assert (info.domain, info.time_column) == (TimeDomain.MICROSECONDS, None)


def test_constant_relation() -> None:
    info = declared("CREATE RELATION r (a INT) SOURCE csv()")
    assert (info.kind, info.domain, info.bounded) == (SourceKind.CONSTANT, None, True)


def test_temporal_relation() -> None:
    info = declared("CREATE RELATION r (a INT, f BIGINT, u BIGINT) SOURCE csv() VALID FROM f TO u")
    assert (info.kind, info.domain) == (SourceKind.INTERVALS, TimeDomain.TICKS)
    assert (info.valid_from, info.valid_to, str(info.schema)) == ("f", "u", "a INT")


@pytest.mark.parametrize(
    ("sql", "message", "help"),
    [
        (
            "CREATE STREAM s (a INT, ts BIGINT) SOURCE csv() ORDERED BY tss",
            "unknown column `tss`",
            "did you mean `ts`? columns: a, ts",
        ),
        (
            "CREATE STREAM s (a INT, b STRING) SOURCE csv() ORDERED BY b",
            "`b` is STRING and cannot give the time",
            "time is BIGINT (ticks) or TIMESTAMP",
        ),
        (
            "CREATE STREAM s (ts BIGINT) SOURCE csv() ORDERED BY ts",
            "`s` has no column besides its time",
            "add a column",
        ),
        (
            "CREATE STREAM s (a INT, A INT) SOURCE csv()",
            "column `A` appears twice",
            "names differ by more than their case; rename one",
        ),
        (
            "CREATE STREAM s (a INT, valid_to INT) SOURCE csv()",
            "`valid_to` is a reserved name",
            "results carry their validity under this name; rename the column",
        ),
        (
            "CREATE STREAM s (a INT, t BIGINT) SOURCE csv() ORDERED BY t SLACK 5 SECONDS",
            "SLACK has a time unit, but time here is a number of ticks",
            "leave the unit out: SLACK 5",
        ),
        (
            "CREATE STREAM s (a INT, t BIGINT) SOURCE csv() ORDERED BY t RETAIN 1 HOUR",
            "RETAIN has a time unit, but time here is a number of ticks",
            "leave the unit out: RETAIN 1",
        ),
        (
            "CREATE STREAM s (a INT, t TIMESTAMP) SOURCE csv() ORDERED BY t RETAIN 1",
            "RETAIN lacks a unit: time here is TIMESTAMP",
            "write for example RETAIN 1 SECONDS",
        ),
        (
            "CREATE RELATION r (a INT, f BIGINT, u TIMESTAMP) SOURCE csv() VALID FROM f TO u",
            "`f` and `u` have different types",
            "time is BIGINT (ticks) or TIMESTAMP",
        ),
    ],
)
def test_wrong_declarations(sql: str, message: str, help: str) -> None:
    with pytest.raises(PlanError) as caught:
        declared(sql)
    assert (caught.value.message, caught.value.help) == (message, help)
    assert caught.value.line == 1
    assert caught.value.sql == sql


def test_columns_that_are_computed() -> None:
    info = declared(
        "CREATE STREAM s (a STRING NOT NULL, n AS length(a), b INT GENERATED ALWAYS AS (1L))"
        " ORDERED BY to_timestamp(a) AS t SLACK 1 SECOND"
    )
    assert str(info.schema) == "a STRING, n INT, b INT"
    assert (str(info.declared), str(info.brought)) == ("a STRING", "a STRING")
    assert str(info.columns) == "a STRING, n INT, b INT, t TIMESTAMP"
    assert (info.time_column, info.domain) == ("t", TimeDomain.MICROSECONDS)
    assert [str(scalar) for scalar in info.computed.values()] == [
        "LENGTH(a)",
        "CAST(CAST(1 AS BIGINT) AS INT)",
        "CAST(a AS TIMESTAMP)",
    ]
    assert info.required == ("a",)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ("a INT, n AS SUM(a)", "aggregates rows"),
        ("a INT, n AS b + 1", "unknown column `b`"),
        ("a INT, n AS a + 1, m AS n + 1", "unknown column `n`"),
        ("a INT, n AS (SELECT 1)", "has no subqueries"),
        ("a INT, n AS mine(a)", "takes Spark's functions"),
        ("a INT, n AS rand()", "another value whenever it is computed"),
        ("a INT, A AS a + 1", "column `A` appears twice"),
        ("a INT, valid_from INT", "reserved name"),
    ],
)
def test_columns_that_cannot_be_computed(columns: str, reason: str) -> None:
    with pytest.raises(PlanError, match=reason):
        declared(f"CREATE STREAM s ({columns}) ORDERED BY a")


def test_a_relation_computes_nothing() -> None:
    with pytest.raises(PlanError, match="computed columns belong to streams"):
        declared("CREATE RELATION r (a INT, n AS a + 1) CHANGING")


def test_the_validity_of_results_is_that_of_a_relation() -> None:
    sql = "CREATE RELATION r (a INT, valid_from BIGINT, valid_to BIGINT) SOURCE csv() VALID FROM "
    info = declared(f"{sql} valid_from TO valid_to")
    assert (str(info.schema), info.valid_from, info.valid_to) == (
        "a INT",
        "valid_from",
        "valid_to",
    )
    with pytest.raises(PlanError, match="reserved name"):
        declared(f"{sql} a TO valid_to")
