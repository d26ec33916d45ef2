"""Streams, relations, views and functions described: columns, and statements that make them."""

from __future__ import annotations

from collections.abc import Iterator

from tidemill.algebra import SourceKind
from tidemill.algebra.schema import Field, Schema
from tidemill.algebra.types import name_of
from tidemill.catalog import Catalog, Derived, SourceInfo
from tidemill.errors import masked


def entry_columns(entry: SourceInfo | Derived) -> Schema:
    """The columns of a stream as they were declared, or its own and then its time."""
    if isinstance(entry, Derived) or entry.kind is not SourceKind.STREAM:
        return entry.schema
    if entry.declared.names:
        return entry.declared
    if entry.time_column is None or entry.time_type is None:
        return entry.schema
    return Schema((*entry.schema, Field(entry.time_column, entry.time_type)))


def sql_of(info: SourceInfo) -> str:
    """The statement that declares a source; options may hold passwords."""
    return masked(info.declaration or _declaration(info))


def _declaration(info: SourceInfo) -> str:
    word = "STREAM" if info.kind is SourceKind.STREAM else "RELATION"
    columns = ", ".join(f"{field.name} {name_of(field.type)}" for field in entry_columns(info))
    text = f"CREATE {word} {info.name} ({columns})"
    if info.format is not None:
        options = ", ".join(f"{name} => {_literal(value)}" for name, value in info.options.items())
        text += f" SOURCE {info.format}({options})"
    if info.time_column is not None:
        text += f" ORDERED BY {info.time_column}"
    return text


def _literal(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value).upper()


def functions_of(catalog: Catalog) -> Iterator[tuple[str, str]]:
    """The functions that were registered, by name, and what they are."""
    yield from sorted((name, "function") for name in catalog.functions)
    yield from sorted((name, "aggregate") for name in catalog.aggregates)
