"""Many rows at once, between PostgreSQL and Arrow: COPY and Arrow both know CSV."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from itertools import islice

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from psycopg import sql

from tidemill.algebra import Field
from tidemill.algebra.types import name_of
from tidemill.connectors.postgres.connect import Connection
from tidemill.errors import ExecutionError

_SMALLEST_BLOCK = 1 << 20
_ROWS_AT_ONCE = 100_000

# How the texts of values look depends on the session: in these settings nothing is lost.
EXACT = """
SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'; SET LOCAL extra_float_digits = 1;
SET LOCAL lock_timeout = '10s'
"""


def copy_out(connection: Connection, query: sql.Composable, fields: Sequence[Field]) -> pa.Table:
    """The rows of a query whose columns are these; BINARY is expected as hexadecimal text."""
    command = sql.SQL("COPY ({}) TO STDOUT (FORMAT csv)").format(query)
    data, longest = io.BytesIO(), 0
    with connection.cursor() as cursor, cursor.copy(command) as copy:
        for chunk in copy:
            longest = max(longest, len(chunk))
            data.write(chunk)
    if not data.tell():
        return _schema(fields).empty_table()
    try:
        table = _parsed(data, fields, longest)
    except pa.ArrowInvalid as error:
        raise _unreadable(fields, str(error)) from error
    return pa.table([_decoded(column) for column in table.columns], _schema(fields))


def copy_in(connection: Connection, target: sql.Composable, rows: pa.Table) -> None:
    """Add rows to a table, which has columns of the same names."""
    texts = pa.table([_texts(column) for column in rows.columns], rows.column_names)
    names = sql.SQL(", ").join(map(sql.Identifier, rows.column_names))
    command = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT csv)").format(target, names)
    # NULL is nothing at all, and an empty text a pair of quotes.
    style = pyarrow.csv.WriteOptions(include_header=False, quoting_style="all_valid")
    with connection.cursor() as cursor, cursor.copy(command) as copy:
        for batch in texts.to_batches(max_chunksize=_ROWS_AT_ONCE):
            data = io.BytesIO()
            pyarrow.csv.write_csv(batch, data, style)
            copy.write(data.getbuffer())


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Values as PostgreSQL reads them."""
    if pa.types.is_list(column.type):
        return pa.chunked_array([_lists(chunk) for chunk in column.chunks], pa.string())
    if pa.types.is_binary(column.type):
        hexadecimal = pl.Series(column).bin.encode("hex").to_arrow()
        return pc.binary_join_element_wise("\\x", hexadecimal.cast(pa.string()), "")
    return pc.cast(column, pa.string())


def _lists(column: pa.ListArray) -> pa.Array:
    values = _texts(pa.chunked_array([column.flatten()])).to_pylist()
    parts = iter("NULL" if value is None else _quoted(value) for value in values)
    lengths = pc.list_value_length(column).to_pylist()
    lists = (None if n is None else f"{{{','.join(islice(parts, n))}}}" for n in lengths)
    return pa.array(lists, pa.string())


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _parsed(data: io.BytesIO, fields: Sequence[Field], longest: int) -> pa.Table:
    # A row must not be longer than a block.
    block = max(_SMALLEST_BLOCK, 2 * longest)
    names = [str(number) for number in range(len(fields))]
    types = {name: _csv_type(field.type) for name, field in zip(names, fields, strict=True)}
    data.seek(0)
    return pyarrow.csv.read_csv(
        data,
        read_options=pyarrow.csv.ReadOptions(column_names=names, block_size=block),
        # A single column that is NULL makes an empty line.
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=types,
            null_values=[""],
            true_values=["t"],
            false_values=["f"],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,  # which is how an empty text differs from NULL
        ),
    )


def _schema(fields: Sequence[Field]) -> pa.Schema:
    return pa.schema([(field.name, field.type) for field in fields])


def _csv_type(data_type: pa.DataType) -> pa.DataType:
    return pa.large_string() if data_type == pa.binary() else data_type


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if column.type != pa.large_string():
        return column
    decoded = pl.Series(column).str.decode("hex").to_arrow()
    return pa.chunked_array([decoded.cast(pa.binary())])


def _unreadable(fields: Sequence[Field], reason: str) -> ExecutionError:
    """Arrow counts columns; people have names for them."""
    match = re.search(r"CSV column #(\d+): (.*)", reason, re.DOTALL)
    if match is None:
        return ExecutionError(f"what PostgreSQL sent cannot be read: {reason}")
    field = fields[int(match[1])]
    return ExecutionError(
        f"a value of the column `{field.name}` is no {name_of(field.type)}: {match[2]}",
        help="declare a type that holds all values; infinite dates and times have none",
    )
