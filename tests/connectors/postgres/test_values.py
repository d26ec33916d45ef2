"""Values of every type come out of a table, and of its log, as they went in."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.connectors.postgres.conftest import Database
from tests.connectors.postgres.replaying import Row, changes_of, rows_of, source_of
from tests.connectors.postgres.server import PostgresServer
from tidemill.connectors.change_source import ChangeSource

CASES: dict[str, tuple[str, pa.DataType, st.SearchStrategy[Any]]] = {
    "boolean": ("bool", pa.bool_(), st.booleans()),
    "tiny": ("int2", pa.int8(), st.integers(-128, 127)),
    "small": ("int2", pa.int16(), st.integers(-(2**15), 2**15 - 1)),
    "int": ("int4", pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "big": ("int8", pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "single": ("float4", pa.float32(), st.floats(width=32)),
    "wide": ("float4", pa.float64(), st.floats(width=32)),
    "double": ("float8", pa.float64(), st.floats()),
    "decimal": ("numeric(38, 9)", pa.decimal128(38, 9), st.decimals(-(10**28), 10**28, places=9)),
    "any_decimal": ("numeric", pa.decimal128(20, 4), st.decimals(-(10**15), 10**15, places=4)),
    "text": ("text", pa.string(), st.text(st.characters(codec="utf-8", exclude_characters="\0"))),
    "name": ("varchar(40)", pa.string(), st.text("aé\"',{}\\n\n\r\t ∞𝄞", max_size=40)),
    "uuid": ("uuid", pa.string(), st.uuids()),
    "bytes": ("bytea", pa.binary(), st.binary(max_size=40)),
    "date": ("date", pa.date32(), st.dates()),
    "time": ("timestamp", pa.timestamp("us"), st.datetimes()),
}
ROWS = st.lists(st.tuples(*(st.none() | values for _, _, values in CASES.values())), max_size=8)


@pytest.fixture(scope="module")
def table(server: PostgresServer) -> tuple[Database, ChangeSource]:
    database = Database(server, "values")
    columns = ", ".join(f'"{name}" {kind}' for name, (kind, _, _) in CASES.items())
    database.run(f"CREATE TABLE t ({columns})")
    types = {name: kind for name, (_, kind, _) in CASES.items()}
    return database, source_of(database, types=types)


def told_apart(row: Row) -> tuple[str, ...]:
    """Rows are the same if they print the same: 0.0 is not -0.0, and nan is nan."""
    return tuple(_printed(value) for value in row)


def _printed(value: Any) -> str:
    if isinstance(value, Decimal):
        return str(value.normalize() if value else Decimal(0))
    return str(value)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rows=ROWS)
def test_values(table: tuple[Database, ChangeSource], rows: list[Row]) -> None:
    database, source = table
    database.run("TRUNCATE t")
    _, position = source.content()
    with database.connect() as connection:
        # Whatever their sessions look like, writers log the same.
        connection.execute("SET extra_float_digits = -10; SET bytea_output = escape")
        connection.execute("SET DateStyle = 'SQL, DMY'; SET TimeZone = 'Asia/Kathmandu'")
        marks = ", ".join(["%s"] * len(CASES))
        for row in rows:
            connection.execute(f"INSERT INTO t VALUES ({marks})", row)
    changes, _ = source.changes(position)
    assert [told_apart(row) for _, row in changes_of(changes)] == [*map(told_apart, rows)]
    content, _ = source.content()
    assert Counter(map(told_apart, rows_of(content))) == Counter(map(told_apart, rows))


def test_signs_of_nothing_are_told_apart() -> None:
    assert told_apart((0.0, math.nan)) != told_apart((-0.0, math.nan))
