"""CSV files, read as Spark reads them in its mode FAILFAST."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from tidemill.algebra.schema import Schema
from tidemill.connectors.feeds.columns import Unreadable
from tidemill.connectors.feeds.options import Dialect, dialect
from tidemill.connectors.feeds.quoting import fields_of, is_plain
from tidemill.connectors.feeds.slices import FileSlice
from tidemill.connectors.feeds.texts import text_of
from tidemill.connectors.feeds.values import values_of

_BLOCK = 64 << 20  # bytes: no line can be longer
_BLANK_LINES = re.compile(rb"\n[\x00-\x09\x0b-\x20]+(?=\n|\Z)")
_BLANK_BEGIN = re.compile(rb"[\x00-\x20]*(?:\n|\Z)")


def read_csv(slice: FileSlice, declared: Schema, columns: Sequence[str]) -> pa.Table:
    """The wanted columns of a CSV file."""
    how = dialect(dict(slice.options))
    body = _body(text_of(slice.path, how.encoding, how.multi_line), how, declared)
    # Rows without columns count all the same.
    names = [*columns] or [declared.names[0]]
    texts = _cut(body, how, declared.names, names)
    nulls = (_with_nulls(texts.column(name), how) for name in names)
    values = [
        values_of(part, name, declared[name]) for part, name in zip(nulls, names, strict=True)
    ]
    return pa.table(values, schema=declared.select(names).to_arrow()).select(list(columns))


def _body(text: bytes, how: Dialect, declared: Schema) -> bytes:
    """The lines with rows: without comments, blank lines and the names of the columns."""
    if not how.multi_line:
        if how.comment:
            mark = re.escape(how.comment.encode())
            text = re.sub(rb"(?m)^" + mark + rb"[^\n]*(?:\n|\Z)", b"", text)
        blank = _BLANK_BEGIN.match(text)
        text = _BLANK_LINES.sub(b"", text[blank.end() :] if blank else text)
    elif how.comment:
        raise Unreadable("comments and values with several lines (multiLine) do not go together")
    text = text.lstrip(b"\n")
    if not how.header or not text:
        return text
    head, _, body = text.partition(b"\n")
    _check_names(head, how, declared)
    return body


def _check_names(head: bytes, how: Dialect, declared: Schema) -> None:
    (names,) = fields_of(head.decode(), how)
    found = [name or "" for name in names]
    if [name.casefold() for name in found] != [name.casefold() for name in declared.names]:
        raise Unreadable(
            f"its columns are {', '.join(found)}, not {', '.join(declared.names)} "
            "(without names in the first line: header => FALSE)"
        )


def _cut(body: bytes, how: Dialect, names: Sequence[str], wanted: Sequence[str]) -> pa.Table:
    """Columns of text; a value that is empty without quotes is NULL."""
    if not body.strip(b"\n"):
        return pa.schema([(name, pa.string()) for name in wanted]).empty_table()
    if len(how.separator) > 1 or not is_plain(body, how):
        return _one_by_one(body, how, names, wanted)
    return csv.read_csv(
        pa.BufferReader(body),
        csv.ReadOptions(use_threads=False, column_names=names, block_size=_BLOCK),
        csv.ParseOptions(
            delimiter=how.separator,
            quote_char=how.quote or False,
            double_quote=not how.escape,
            newlines_in_values=how.multi_line,
        ),
        csv.ConvertOptions(
            include_columns=wanted,
            column_types={name: pa.string() for name in wanted},
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
        ),
    )


def _one_by_one(body: bytes, how: Dialect, names: Sequence[str], wanted: Sequence[str]) -> pa.Table:
    rows = list(fields_of(body.decode(), how))
    for number, row in enumerate(rows, 1):
        if len(row) != len(names):
            raise Unreadable(f"row {number} has {len(row)} columns instead of {len(names)}")
    places = {name: place for place, name in enumerate(names)}
    return pa.table(
        {name: pa.array([row[places[name]] for row in rows], pa.string()) for name in wanted}
    )


def _with_nulls(texts: pa.ChunkedArray, how: Dialect) -> pa.ChunkedArray:
    if how.empty:
        texts = pc.if_else(pc.equal(texts, ""), how.empty, texts)
    return pc.if_else(pc.equal(texts, how.null), pa.scalar(None, pa.string()), texts)
