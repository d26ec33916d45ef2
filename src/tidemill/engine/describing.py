"""Streams, relations, views and functions described: columns, and statements that make them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tidemill.algebra import SourceKind
from tidemill.algebra.schema import Schema
from tidemill.algebra.types import name_of
from tidemill.catalog import Catalog, Derived, SourceInfo
from tidemill.engine.query import Query
from tidemill.errors import masked
from tidemill.sql import CreateQuery, parse_one
from tidemill.sql.building import quoted
from tidemill.sql.parameters import literal_text


def entry_columns(entry: SourceInfo | Derived) -> Schema:
    """The columns of a stream as they were declared, or its own and then its time."""
    if isinstance(entry, Derived) or entry.kind is not SourceKind.STREAM:
        return entry.schema
    return entry.columns


def sql_of(info: SourceInfo) -> str:
    """The statement that declares a source; options may hold passwords."""
    return masked(info.declaration or _declaration(info))


def _declaration(info: SourceInfo) -> str:
    word = "STREAM" if info.kind is SourceKind.STREAM else "RELATION"
    columns = ", ".join(f"{field.name} {name_of(field.type)}" for field in entry_columns(info))
    text = f"CREATE {word} {info.name} ({columns})"
    if info.format is not None:
        text += f" SOURCE {info.format}({_options(info.options)})"
    if info.time_column is not None:
        text += f" ORDERED BY {info.time_column}"
    return text


def query_text(name: str, query: Query) -> str:
    """The statement that makes a query; one that was changed keeps its sink."""
    statement = parse_one(query.sql)
    if isinstance(statement, CreateQuery):
        return query.sql
    into, options = query.sink.target, {**query.sink.options, "form": query.sink.form}
    said = isinstance(into, str) and into != "memory"
    head = f"INSERT INTO {into}({_options(options)})\n" if said else ""
    return f"CREATE QUERY {quoted(name)} AS\n{head}{statement.query_sql}"


def _options(options: Mapping[str, object]) -> str:
    return ", ".join(f"{name} => {_literal(value)}" for name, value in options.items())


def _literal(value: object) -> str:
    return literal_text(value) if isinstance(value, str) else str(value).upper()


def functions_of(catalog: Catalog) -> Iterator[tuple[str, str]]:
    """The functions that were registered, by name, and what they are."""
    yield from sorted((name, "function") for name in catalog.functions)
    yield from sorted((name, "aggregate") for name in catalog.aggregates)
