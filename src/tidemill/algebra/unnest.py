"""Rows out of lists, and the relation that such rows start from where there is no other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from tidemill.algebra.nodes import Scan, SourceKind, Unary
from tidemill.algebra.scalar import Scalar
from tidemill.algebra.schema import Field, Schema

ONE_ROW = "#one"
"""A relation that every catalog has: a single row, for VALUES and UNNEST of constants."""

ONE_ROW_COLUMNS = Schema.of(one=pa.bool_())


@dataclass(frozen=True)
class Unnest(Unary):
    """A row for every element of a list, beside the columns of the row that are `kept`.

    Each holds as long as its row. `ordinal` is the column of the place in the list, from 1. A
    row without elements is left out; if `outer`, it stays, with NULL in the new columns.

    >>> from tidemill.algebra.scalar import column
    >>> post = Scan("post", "p", Schema.of(tags=pa.list_(pa.string())))
    >>> print(Unnest(post, column("p.tags", pa.list_(pa.string())), "tag", kept=()))
    01 Unnest tag in p.tags keep=[]
    02   Scan post as p columns=[tags]
    """

    values: Scalar
    element: str
    ordinal: str | None = None
    outer: bool = False
    kept: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not pa.types.is_list(self.values.type):
            raise TypeError(f"`{self.values}` is no list")

    @cached_property
    def schema(self) -> Schema:
        return Schema(self.child.schema.select(self.kept).fields + self.made.fields)

    @cached_property
    def made(self) -> Schema:
        """The columns that it adds."""
        fields = [Field(self.element, self.values.type.value_type)]
        if self.ordinal is not None:
            fields.append(Field(self.ordinal, pa.int64()))
        return Schema(tuple(fields))

    def details(self) -> str:
        new = self.element if self.ordinal is None else f"{self.element} at {self.ordinal}"
        whole = self.kept == self.child.schema.names
        kept = "" if whole else f" keep=[{', '.join(self.kept)}]"
        return f"{new} in {self.values}{kept}{' outer' if self.outer else ''}"


def one_row(alias: str) -> Scan:
    """The relation of a single row."""
    return Scan(ONE_ROW, alias, ONE_ROW_COLUMNS, SourceKind.CONSTANT, bounded=True, rows=1)


def one_row_table() -> pa.Table:
    """What is in that relation."""
    return pa.Table.from_pylist([{"one": True}], schema=ONE_ROW_COLUMNS.to_arrow())
