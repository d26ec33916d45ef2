"""Each form: its columns, their types, open ends, and names that it cannot have."""

from __future__ import annotations

import datetime as dt
import pickle

import polars as pl
import pyarrow as pa
import pytest

from tests.connectors.sinks.rows import (
    FLAT,
    FLAT_ROWS,
    FORMS,
    LOOKS,
    MICROSECONDS,
    NAMES,
    NESTED,
    NESTED_ROWS,
    SCHEMA,
    TWO,
    given,
    rows,
    tuples,
)
from tidemill.algebra.schema import Schema
from tidemill.connectors.sinks import FormShape, check_form, shaped, shaped_schema
from tidemill.errors import ExecutionError
from tidemill.timeline import TimeDomain


@pytest.mark.parametrize("form", FORMS)
def test_rows_in_each_form(form: str) -> None:
    table = shaped(given(form), form, SCHEMA)
    assert table.column_names == NAMES[form]
    assert tuples(table) == LOOKS[form]


def test_changes_are_in_order_of_their_time() -> None:
    """What comes from several partitions is not."""
    told = given("changes", rows((1, "a", 3, 5), (2, "b", 5, 6), (3, "c", 4, 5)))
    looks = [(1, "a", 3, "+"), (3, "c", 4, "+"), (1, "a", 5, "-"), (3, "c", 5, "-")]
    looks += [(2, "b", 5, "+"), (2, "b", 6, "-")]
    for parts in (told, pl.concat([told[3:], told[:3]])):
        table = shaped(parts, "changes", SCHEMA)
        assert sorted(tuples(table)) == sorted(looks)
        assert [row[2:] for row in tuples(table)] == [row[2:] for row in looks]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("domain", [None, TimeDomain.TICKS, MICROSECONDS])
def test_the_schema_is_known_before_the_rows(form: str, domain: TimeDomain | None) -> None:
    expected = shaped_schema(form, SCHEMA, domain)
    assert shaped(given(form), form, SCHEMA, domain).schema == expected
    assert shaped(given(form, TWO.clear()), form, SCHEMA, domain).schema == expected


@pytest.mark.parametrize("form", FORMS)
def test_timestamps_have_no_zone(form: str) -> None:
    table = shaped(given(form), form, SCHEMA, MICROSECONDS)
    stamps = [field.type for field in table.schema if pa.types.is_timestamp(field.type)]
    assert stamps
    assert set(stamps) == {pa.timestamp("us")}
    assert table[2][0].as_py() == dt.datetime(1970, 1, 1, 0, 0, 0, 3)


@pytest.mark.parametrize("form", FORMS)
def test_values_of_every_type_stay_what_they_are(form: str) -> None:
    for frame, schema in ((FLAT_ROWS, FLAT), (NESTED_ROWS, NESTED)):
        # Rows are in the order of their coming; of changes, the rest are those that go.
        table = shaped(given(form, frame), form, schema).select(schema.names).slice(0, frame.height)
        expected = frame.select(schema.names).to_arrow().cast(schema.to_arrow())
        assert table == expected


def test_a_column_of_nulls() -> None:
    schema = Schema.of(n=pa.null())
    table = shaped(rows((None, 1, 2), schema=schema), "intervals", schema)
    assert table.schema == shaped_schema("intervals", schema)


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("intervals", "valid_from"),
        ("live", "valid_to"),
        ("changes", "changed_at"),
        ("changes", "change"),
        ("snapshot", "snapshot_at"),
    ],
)
def test_columns_that_a_form_needs(form: str, name: str) -> None:
    with pytest.raises(ExecutionError, match=f"column `{name}`, which the form `{form}`") as error:
        check_form(form, ["a", name])
    assert f"SELECT {name} AS" in str(error.value)
    with pytest.raises(ExecutionError):
        FormShape(form, Schema.of(**{name: pa.int64()}))


def test_other_forms_may_have_them() -> None:
    check_form("snapshot", ["changed_at", "change"])
    check_form("changes", ["snapshot_at"])


def test_no_form() -> None:
    with pytest.raises(ExecutionError, match=r"no form `sideways`(.|\n)*intervals, live, changes"):
        check_form("sideways", [])


def test_a_shape_travels() -> None:
    shape = pickle.loads(pickle.dumps(FormShape("changes", NESTED, MICROSECONDS)))
    assert shape(given("changes", NESTED_ROWS)).schema == shape.columns
