"""Columns as they are declared, and as a table in PostgreSQL has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
from psycopg import sql

from tidemill.algebra import Field, Schema
from tidemill.algebra.types import name_of
from tidemill.connectors.postgres.tables import PostgresTable
from tidemill.errors import ExecutionError, nearest

ROW = "#row"
"""The alias under which queries have the row that is read."""

_TEXTS = ("text", "varchar", "bpchar", "name", "uuid", "enum")
_INTEGERS = ("int2", "int4", "int8")

_READ: dict[pa.DataType, tuple[tuple[str, ...], str]] = {
    pa.bool_(): (("bool",), "{}"),
    pa.int8(): (_INTEGERS[:1], "{}"),
    pa.int16(): (_INTEGERS[:1], "{}"),
    pa.int32(): (_INTEGERS[:2], "{}"),
    pa.int64(): (_INTEGERS, "{}"),
    pa.float32(): (("float4",), "{}"),
    pa.float64(): (("float8", "float4"), "{}::float8"),
    pa.string(): (_TEXTS, "{}::text"),
    pa.binary(): (("bytea",), "encode({}, 'hex')"),
    pa.date32(): (("date",), "{}"),
    # Of instants, the time in UTC: the zone of the reading session.
    pa.timestamp("us"): (("timestamp", "timestamptz"), "{}::timestamp"),
}
"""By declared type: the types of PostgreSQL that it can be read from, and how."""

_READ_DECIMAL = (("numeric", *_INTEGERS), "trim_scale({}::numeric)")

_OFFERED = {
    "bool": "BOOLEAN",
    "int2": "SMALLINT",
    "int4": "INT",
    "int8": "BIGINT",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "numeric": "DECIMAL(p, s)",
    "bytea": "BINARY",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMP",
} | dict.fromkeys(_TEXTS, "STRING")


@dataclass(frozen=True)
class Reading:
    """A column that is read: under which name and type, and as which expression."""

    field: Field
    number: int
    type: str
    expression: sql.Composable


def readings(columns: Schema, table: PostgresTable) -> list[Reading]:
    """How declared columns are read from a table; it must have them, in types that fit."""
    return [_reading(field, table) for field in columns]


def _reading(field: Field, table: PostgresTable) -> Reading:
    if (column := table.columns.get(field.name)) is None:
        near = nearest(field.name, table.columns)
        guess = f"did you mean `{near}`? " if near else ""
        raise ExecutionError(
            f"the table `{table.name}` has no column `{field.name}`",
            help=f"{guess}it has: {', '.join(table.columns)}",
        )
    is_decimal = pa.types.is_decimal(field.type)
    accepted, template = _READ_DECIMAL if is_decimal else _READ.get(field.type, ((), "{}"))
    if column.kind not in accepted:
        offered = _OFFERED.get(column.kind)
        raise ExecutionError(
            f"the column `{field.name}` of the table `{table.name}` is {column.type}, "
            f"and cannot be read as {name_of(field.type)}",
            help=f"declare it {offered}" if offered else "leave it out: its type cannot be read",
        )
    expression = sql.SQL(template).format(sql.Identifier(ROW, field.name))
    return Reading(field, column.number, column.type, expression)


def shape(columns: list[Reading]) -> dict[str, str]:
    """What must stay as it is while a query reads: every column, by number and type."""
    return {column.field.name: f"{column.number} {column.type}" for column in columns}


def check_shape(table: PostgresTable, before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Refuse columns that were not there, or were others, when reading began.

    Nobody logs what an ALTER TABLE does to the rows.
    """
    for name, (was, is_now) in {n: (before.get(n), now[n]) for n in now}.items():
        if was == is_now:
            continue
        what = "was not read before" if was is None else _difference(was, is_now)
        raise ExecutionError(
            f"the column `{name}` of the table `{table.name}` {what}",
            help="how this changed its rows is not known: start the query again, with another "
            "checkpoint",
        )


def _difference(was: str, is_now: str) -> str:
    old, new = was.partition(" ")[2], is_now.partition(" ")[2]
    return "was dropped and created again" if old == new else f"is now {new}, and was {old}"
