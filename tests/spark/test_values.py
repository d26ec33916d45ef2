"""Values on their way through Spark: types, NULLs, keys that are equal but look different."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession

import tidemill as tm
from tests.fabrics.answers import multiset, net_changes, query_of

NAN, ZEROS = float("nan"), [0.0, -0.0]
STRUCT = pa.struct([("x", pa.int64()), ("y", pa.string())])
TABLE = pa.table(
    {
        "i": pa.array([1, None, 7], pa.int32()),
        "tiny": pa.array([-128, None, 127], pa.int8()),
        "d": pa.array([Decimal("1.50"), None, Decimal("-99999999.99")], pa.decimal128(10, 2)),
        "wide": pa.array([Decimal(10**37), None, Decimal(-1)], pa.decimal128(38, 0)),
        "s": ["ä🙂\u0000", None, ""],
        "b": [True, None, False],
        "f": pa.array([1.5, None, NAN], pa.float32()),
        "g": [-0.0, None, float("inf")],
        "day": [dt.date(2026, 1, 1), None, dt.date(1582, 10, 15)],
        "moment": pa.array(
            [dt.datetime(1999, 1, 1, 2, 3, 4, 5), None, dt.datetime(2038, 1, 19)],
            pa.timestamp("us"),
        ),
        "l": [[1, None, 2], None, []],
        "deep": pa.array(
            [[{"x": 1, "y": "a"}], None, [None]], pa.list_(STRUCT)
        ),
        "st": pa.array([{"x": 1, "y": "ä"}, None, {"x": None, "y": None}], STRUCT),
        "m": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())),
        "bin": [b"\x00\xff", None, b""],
        "ts": [1, 2, 3],
    }
)  # fmt: skip
ZERO = pa.scalar(0.0, pa.float32())
COLUMNS = [name for name in TABLE.column_names if name != "ts"]


def both(
    session: SparkSession, sql: str, partitions: int = 3, time: str = "ts", **streams: Any
) -> tuple[tm.Query, tm.Query]:
    """The same query on Spark and in this process."""
    queries = []
    for engine in (tm.Engine(spark=session, partitions=partitions), tm.Engine("inprocess")):
        for name, source in streams.items():
            engine.stream(name, source, time=time)
        queries.append(query_of(engine, sql))
    return queries[0], queries[1]


def check_both(session: SparkSession, sql: str, **options: Any) -> pa.Table:
    """Fail unless both runtimes give the same rows; those of Spark."""
    spark, inprocess = (query.collect() for query in both(session, sql, **options))
    assert spark.schema == inprocess.schema
    assert net_changes(spark) == net_changes(inprocess)
    return spark


@pytest.mark.parametrize("window", ["RANGE 3", "ROWS 5", "PARTITION BY i ROWS 2"])
def test_values_pass_through(session: SparkSession, window: str) -> None:
    """Through Spark alone, through one partition, and through a stage by key."""
    found = check_both(session, f"SELECT * FROM s WINDOW({window})", s=TABLE)
    payload = found.drop_columns(["valid_from", "valid_to"])
    assert multiset(payload) == multiset(TABLE.drop_columns(["ts"]).cast(payload.schema))


def test_values_pass_through_several_stages(session: SparkSession) -> None:
    sql = (
        "SELECT * FROM s WINDOW(PARTITION BY i ROWS 2) WHERE NOT EXISTS "
        "(SELECT 1 FROM s AS t WINDOW(RANGE 5) WHERE t.bin = s.bin AND t.s <> s.s)"
    )
    # Which zero stands for both, in results of operators that count equal rows, is left open.
    zeros = TABLE.set_column(TABLE.column_names.index("g"), "g", pc.add(TABLE["g"], ZERO))
    assert check_both(session, sql, s=zeros).num_rows == 3


def test_values_tell_rows_apart_wherever_they_are(session: SparkSession) -> None:
    """Rows of every type meet their equals, and only those."""
    twice = pa.concat_tables([TABLE, TABLE])
    sql = " UNION ALL ".join(
        f"SELECT '{column}' AS name, COUNT(*) AS n FROM s WINDOW(RANGE 9) GROUP BY {column}"
        for column in COLUMNS
    )
    found = check_both(session, sql, s=twice)
    at_3 = [row for row in found.to_pylist() if row["valid_from"] <= 3 < (row["valid_to"] or 99)]
    assert Counter(row["name"] for row in at_3) == dict.fromkeys(COLUMNS, 3)
    assert {row["n"] for row in at_3} == {2}


KEYS = pa.table(
    {
        "f": [0.0, -0.0, NAN, -NAN, None, None, 1.0, 1.0],
        "g": pa.array([-0.0, 0.0, -NAN, NAN, None, None, 1.0, 1.0], pa.float32()),
        "l": [[0.0], [-0.0], [NAN], [-NAN], None, None, [], []],
        "ts": [1] * 8,
    }
)


@pytest.mark.parametrize("key", ["f", "g", "l", "f, g"])
def test_equal_keys_meet_across_partitions(session: SparkSession, key: str) -> None:
    """There are two zeros, many NaNs, and NULL is a group of its own."""
    sql = f"SELECT {key}, COUNT(*) AS n FROM s WINDOW(RANGE 5) GROUP BY {key}"
    query, other = both(session, sql, partitions=7, s=KEYS)
    assert [row["n"] for row in query.collect().to_pylist()] == [2, 2, 2, 2]
    assert [row["n"] for row in other.collect().to_pylist()] == [2, 2, 2, 2]


@pytest.mark.parametrize(("operator", "pairs"), [("=", 12), ("<=>", 16)])
def test_joined_keys_meet_across_partitions(
    session: SparkSession, operator: str, pairs: int
) -> None:
    """NaN equals itself in Spark; NULL meets NULL only where the query says so."""
    sql = (
        f"SELECT a.f, b.f AS g FROM s WINDOW(RANGE 5) AS a, t WINDOW(RANGE 5) AS b "
        f"WHERE a.f {operator} b.f"
    )
    assert check_both(session, sql, partitions=5, s=KEYS, t=KEYS).num_rows == pairs


SHAPES = {
    "nothing": [],
    "one row": [(1, 5)],
    "one instant": [(k % 3, 7) for k in range(20)],
    "one key": [(1, k // 4) for k in range(40)],
    "many keys": [(k, k // 7) for k in range(40)],
}
SHAPE_SQL = (
    "SELECT a.k, COUNT(*) AS n, MAX(b.k) AS m FROM s WINDOW(RANGE 4) AS a, s WINDOW(RANGE 2) AS b "
    "WHERE a.k = b.k GROUP BY a.k"
)


@pytest.mark.parametrize(
    ("shape", "partitions"),
    [("nothing", 2), ("one row", 4), ("one instant", 8), ("one key", 3), ("many keys", 1)],
)
def test_shapes_of_input(session: SparkSession, shape: str, partitions: int) -> None:
    schema = pa.schema([("k", pa.int64()), ("ts", pa.int64())])
    rows = [{"k": k, "ts": ts} for k, ts in SHAPES[shape]]
    ticks = [pa.Table.from_pylist(part, schema) for part in (rows[:15], [], rows[15:])]
    check_both(session, SHAPE_SQL, partitions=partitions, s=ticks)


@pytest.mark.parametrize(
    ("time", "message"),
    [
        (None, "the time column `ts` of `s` is NULL in 1 row"),
        (-1, "before the beginning"),
        (2**63 - 1, "beyond the end"),
    ],
)
def test_times_that_cannot_be(session: SparkSession, time: int | None, message: str) -> None:
    table = pa.table({"v": [1, 2], "ts": pa.array([5, time], pa.int64())})
    query, _ = both(session, "SELECT v FROM s", s=table)
    with pytest.raises(tm.ExecutionError, match=message):
        query.collect()


def test_validity_that_cannot_be(session: SparkSession) -> None:
    engine = tm.Engine(spark=session, partitions=1)
    table = pa.table({"v": [1], "a": pa.array([None], pa.int64()), "b": [3]})
    engine.relation("r", table, valid=("a", "b"))
    with pytest.raises(tm.ExecutionError, match="the time column `a` of `r` is NULL"):
        query_of(engine, "SELECT v FROM r").collect()


def test_windows_up_to_the_end_of_time(session: SparkSession) -> None:
    table = pa.table({"v": [1, 2], "ts": [2**62, 1]})
    sql = f"SELECT v FROM s WINDOW(RANGE {2**63 - 1})"
    found = check_both(session, sql, s=table)
    assert [row["valid_to"] for row in found.to_pylist()] == [None, None]


@pytest.mark.parametrize("zone", ["UTC", "America/Los_Angeles"])
def test_the_zone_of_the_session_does_not_matter(session: SparkSession, zone: str) -> None:
    noon = dt.datetime(2026, 3, 8, 12)
    table = pa.table(
        {
            "at": pa.array([noon], pa.timestamp("us")),
            "other": pa.array([noon], pa.timestamp("us")),
            "day": [noon.date()],
        }
    )
    before = session.conf.get("spark.sql.session.timeZone")
    session.conf.set("spark.sql.session.timeZone", zone)
    try:
        sql = "SELECT other, day, at AS copy FROM s WINDOW(RANGE 1 HOUR)"
        (row,) = check_both(session, sql, s=table, time="at").to_pylist()
        assert row["valid_from"] == row["other"] == row["copy"] == noon
        assert row["valid_to"] == noon + dt.timedelta(hours=1)
    finally:
        session.conf.set("spark.sql.session.timeZone", before)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [("v / (v - 1)", "(?i)division by zero"), ("9223372036854775807 + v", "(?i)overflow")],
)
def test_expressions_fail_with_a_reason(
    session: SparkSession, expression: str, reason: str
) -> None:
    table = pa.table({"v": [1], "ts": [1]})
    for sql in (
        f"SELECT {expression} AS x FROM s",
        f"SELECT {expression} AS x FROM s WINDOW(ROWS 1)",
    ):
        query, _ = both(session, sql, s=table)
        with pytest.raises(tm.ExecutionError, match=reason):
            query.collect()


def test_functions_of_the_user(session: SparkSession) -> None:
    engine = tm.Engine(spark=session, partitions=2)
    engine.stream("s", pa.table({"k": [1, 1, 2], "v": [2, 3, 4], "ts": [1, 2, 3]}), time="ts")
    engine.function("twice", lambda x: 2 * x, returns="BIGINT")
    engine.aggregate(
        "product",
        init=lambda x: x,
        merge=lambda a, b: a * b,
        eval=lambda x: x,
        returns="BIGINT",
    )
    sql = "SELECT k, product(twice(v)) AS p FROM s WINDOW(RANGE 9) GROUP BY k"
    found = query_of(engine, sql).collect(coalesce=True)
    assert sorted(tuple(row.values())[:3] for row in found.to_pylist()) == [
        (1, 4, 1), (1, 6, 10), (1, 24, 2), (2, 8, 3),
    ]  # fmt: skip


def test_their_errors_name_them(session: SparkSession) -> None:
    engine = tm.Engine(spark=session, partitions=2)
    engine.stream("s", pa.table({"v": [2], "ts": [1]}), time="ts")
    engine.function("broken", lambda x: 1 / 0, returns="INT")
    with pytest.raises(tm.ExecutionError, match=r"(?i)broken"):
        query_of(engine, "SELECT broken(v) AS x FROM s").collect()
