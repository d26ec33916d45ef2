"""Whatever a user holds rows in, as Arrow tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl
import pyarrow as pa

from tidemill.algebra.types import UnknownType, name_of, normalize
from tidemill.errors import CatalogError


def to_tables(name: str, source: Any) -> list[pa.Table]:
    """The ticks of a source: one table, or a list of tables that arrive one after the other.

    >>> [table.num_rows for table in to_tables("s", [{"a": 1}, {"a": 2}])]
    [2]
    """
    if isinstance(source, Iterable) and not _is_table(source):
        parts = list(source)
        if parts and isinstance(parts[0], Mapping):
            source = pa.Table.from_pylist(parts)
        else:
            return _alike(name, [_to_table(name, part) for part in parts])
    return [_to_table(name, source)]


def _is_table(source: Any) -> bool:
    return isinstance(source, (pa.Table, pa.RecordBatch, pl.DataFrame, Mapping)) or hasattr(
        source, "__arrow_c_stream__"
    )


def _to_table(name: str, source: Any) -> pa.Table:
    if isinstance(source, pl.DataFrame):
        table = source.to_arrow()
    elif isinstance(source, pa.RecordBatch):
        table = pa.Table.from_batches([source])
    elif isinstance(source, pa.Table):
        table = source
    elif isinstance(source, Mapping):
        table = pa.table(dict(source))
    elif isinstance(source, list) and source and isinstance(source[0], Mapping):
        table = pa.Table.from_pylist(source)
    elif type(source).__module__.startswith("pandas."):
        table = pa.Table.from_pandas(source, preserve_index=False)
    elif hasattr(source, "__arrow_c_stream__"):
        table = pa.table(source)
    else:
        raise CatalogError(
            f"`{name}` cannot be read from {type(source).__name__}",
            help="give a pyarrow, polars or pandas table, an iterable of dicts, or a list of these",
        )
    try:
        return table.cast(normal_schema(name, table.schema)).combine_chunks()
    except pa.ArrowInvalid as error:
        raise CatalogError(
            f"`{name}` cannot be read without loss: {error}",
            help="timestamps have microseconds here; round finer ones first",
        ) from error


def normal_schema(name: str, schema: pa.Schema) -> pa.Schema:
    """The columns of a source in the types that are used here."""
    fields = []
    for field in schema:
        try:
            fields.append((field.name, normalize(field.type)))
        except UnknownType as error:
            raise CatalogError(
                f"column `{field.name}` of `{name}` has the type {error}, which is not supported",
                help="cast it, or leave it out",
            ) from error
    return pa.schema(fields)


def _alike(name: str, tables: list[pa.Table]) -> list[pa.Table]:
    if not tables:
        raise CatalogError(
            f"`{name}` has no table, so its columns are not known",
            help="give at least one table; it may be empty",
        )
    for number, table in enumerate(tables, 1):
        if table.schema != tables[0].schema:
            raise CatalogError(
                f"table {number} of `{name}` has other columns than the first: "
                f"{_shown(table.schema)} instead of {_shown(tables[0].schema)}",
                help="all tables of a stream need the same columns and types",
            )
    return tables


def _shown(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {name_of(field.type)}" for field in schema)
