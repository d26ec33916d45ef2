"""Rows that are to be inserted into a relation: whether they fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from tidemill.algebra.fitting import Misfit, cast_exactly, fitted
from tidemill.algebra.tables import to_tables
from tidemill.algebra.types import is_numeric, name_of
from tidemill.catalog import SourceInfo
from tidemill.errors import CatalogError, nearest


def checked_rows(info: SourceInfo, rows: Any) -> pa.Table:
    """Rows to be inserted, in the columns and types of the relation.

    >>> from tidemill.algebra import Schema, SourceKind
    >>> info = SourceInfo("r", Schema.of(k=pa.int32(), x=pa.float64()), SourceKind.CHANGING)
    >>> checked_rows(info, [{"x": 1, "k": 2}]).to_pylist()
    [{'k': 2, 'x': 1.0}]
    """
    if isinstance(rows, Iterable) and not hasattr(rows, "__arrow_c_stream__"):
        rows = rows if isinstance(rows, Mapping) else list(rows)
        if isinstance(rows, list) and all(isinstance(row, Mapping) for row in rows):
            return _from_records(info, rows)
    tables = [_typed(info, table) for table in to_tables(info.name, rows)]
    return pa.concat_tables(tables)


def _from_records(info: SourceInfo, records: list[Mapping[str, Any]]) -> pa.Table:
    for record in records:
        _check_names(info, record)
    columns = [
        _from_values(info, name, [record[name] for record in records]) for name in info.schema.names
    ]
    return pa.table(columns, schema=info.schema.to_arrow())


def _from_values(info: SourceInfo, name: str, values: list[Any]) -> pa.ChunkedArray:
    try:
        return pa.chunked_array([fitted(values, info.schema[name])])
    except Misfit as error:
        raise _wrong(info, name, str(error)) from error


def _check_names(info: SourceInfo, names: Iterable[str]) -> None:
    known, given = info.schema.names, list(names)
    for name in given:
        if name not in known:
            near = nearest(name, known)
            guess = f"did you mean `{near}`? " if near else ""
            help = f"{guess}columns: {', '.join(known)}"
            raise CatalogError(f"`{info.name}` has no column `{name}`", help=help)
    if missing := [name for name in known if name not in given]:
        message = f"column `{missing[0]}` of `{info.name}` is missing"
        raise CatalogError(message, help="give it the value None (NULL) if there is none")


def _typed(info: SourceInfo, table: pa.Table) -> pa.Table:
    _check_names(info, table.column_names)
    columns = [_cast(info, column.name, table.column(column.name)) for column in info.schema]
    return pa.table(columns, schema=info.schema.to_arrow())


def _cast(info: SourceInfo, name: str, values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Values in the type of their column, if nothing is lost but the last digits of a float."""
    given, wanted = values.type, info.schema[name]
    if given == wanted:
        return values
    if not _is_convertible(given, wanted):
        raise _wrong(info, name, f"{name_of(given)} is given")
    try:
        return cast_exactly(values, wanted)
    except Misfit as error:
        raise _wrong(info, name, str(error)) from error


def _is_convertible(given: pa.DataType, wanted: pa.DataType) -> bool:
    if pa.types.is_null(given) or (is_numeric(given) and is_numeric(wanted)):
        return True
    if pa.types.is_date(given):
        return bool(pa.types.is_timestamp(wanted))
    return bool(pa.types.is_nested(given) and given.id == wanted.id)


def _wrong(info: SourceInfo, name: str, reason: str) -> CatalogError:
    message = f"column `{name}` of `{info.name}` is {name_of(info.schema[name])}: {reason}"
    return CatalogError(message, help="nothing was inserted; cast the values first")
