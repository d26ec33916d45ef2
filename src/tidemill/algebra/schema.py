"""Schemas: the names and types of the columns of a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from tidemill.algebra.types import name_of


@dataclass(frozen=True)
class Field:
    """One column. Inside a plan its name carries the alias, as in `b.price`."""

    name: str
    type: pa.DataType

    def __str__(self) -> str:
        return f"{self.name} {name_of(self.type)}"


@dataclass(frozen=True)
class Schema:
    """The ordered columns of a stream; names are unique.

    >>> schema = Schema.of(item=pa.int64(), price=pa.float64())
    >>> schema.names
    ('item', 'price')
    >>> "price" in schema, schema["price"]
    (True, DataType(double))
    """

    fields: tuple[Field, ...]

    def __post_init__(self) -> None:
        names = [field.name for field in self.fields]
        if len(set(names)) != len(names):
            raise ValueError(f"duplicate column names: {names}")

    @staticmethod
    def of(**types: pa.DataType) -> Schema:
        return Schema(tuple(Field(name, data_type) for name, data_type in types.items()))

    @staticmethod
    def from_arrow(schema: pa.Schema) -> Schema:
        return Schema(tuple(Field(field.name, field.type) for field in schema))

    def to_arrow(self) -> pa.Schema:
        return pa.schema([(field.name, field.type) for field in self.fields])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields)

    @property
    def types(self) -> tuple[pa.DataType, ...]:
        return tuple(field.type for field in self.fields)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> pa.DataType:
        for field in self.fields:
            if field.name == name:
                return field.type
        raise KeyError(name)

    def __add__(self, other: Schema) -> Schema:
        return Schema(self.fields + other.fields)

    def select(self, names: Iterable[str]) -> Schema:
        return Schema(tuple(Field(name, self[name]) for name in names))

    def __str__(self) -> str:
        return ", ".join(str(field) for field in self.fields)
