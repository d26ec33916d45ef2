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
