"""What a server tells, with types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import pyarrow as pa


class Known:
    """Built of the fields of a JSON object that are known here; newer servers may send more."""

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Self:
        """Take what is known.

        >>> ColumnInfo.of({"name": "item", "type": "STRING", "colour": "blue"})
        ColumnInfo(name='item', type='STRING')
        """
        names = {field.name for field in fields(cls)}  # type: ignore[arg-type]
        taken = {name: _inner(name, value) for name, value in found.items() if name in names}
        return cls(**taken)


@dataclass(frozen=True)
class ColumnInfo(Known):
    """A column, with the SQL name of its type."""

    name: str
    type: str


@dataclass(frozen=True)
class Stream(Known):
    """A stream: its columns, which of them is its time, and what was read of it."""

    name: str
    columns: tuple[ColumnInfo, ...]
    time: str | None = None
    domain: str | None = None
    slack: int = 0
    pushed: bool = False
    used_by: tuple[str, ...] = ()
    sql: str = ""
    rows: int = 0
    late_rows: int = 0
    watermark: int | None = None
    rate: float = 0.0


@dataclass(frozen=True)
class Relation(Known):
    """A relation."""

    name: str
    columns: tuple[ColumnInfo, ...]
    kind: str = ""
    domain: str | None = None
    rows: int | None = None
    used_by: tuple[str, ...] = ()
    sql: str = ""


@dataclass(frozen=True)
class Derived(Known):
    """A stream or relation that a query defines."""

    name: str
    columns: tuple[ColumnInfo, ...]
    kind: str = "stream"
    domain: str | None = None
    depends_on: tuple[str, ...] = ()
    used_by: tuple[str, ...] = ()
    sql: str = ""


@dataclass(frozen=True)
class Catalog:
    """Everything that queries can read."""

    streams: tuple[Stream, ...]
    relations: tuple[Relation, ...]
    derived: tuple[Derived, ...]

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Self:
        """Take what is known."""
        return cls(
            tuple(map(Stream.of, found["streams"])),
            tuple(map(Relation.of, found["relations"])),
            tuple(map(Derived.of, found["derived"])),
        )


@dataclass(frozen=True)
class QueryInfo(Known):
    """A query with a name: what it asks for, and what it is doing."""

    name: str
    state: str
    sql: str = ""
    columns: tuple[ColumnInfo, ...] = ()
    domain: str | None = None
    error: str | None = None
    depends_on: tuple[str, ...] = ()
    complete_from: int | None = None
    rows_out: int = 0


@dataclass(frozen=True)
class StatementResult(Known):
    """What one statement did."""

    kind: str
    name: str | None = None
    message: str = ""
    query: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Check(Known):
    """The statements of a text, and what is wrong with them."""

    statements: tuple[Mapping[str, Any], ...] = ()
    errors: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Plan(Known):
    """A plan at every level, with costs and the rules that made it."""

    sql: str
    plans: Mapping[str, Any]
    texts: Mapping[str, str]
    lines: Mapping[str, Any]
    warnings: tuple[Mapping[str, Any], ...] = ()
    rules: tuple[Mapping[str, Any], ...] = ()
    total: Mapping[str, float] | None = None


@dataclass(frozen=True)
class Rows:
    """Rows of an answer, with `valid_from` and `valid_to`; `truncated` if there are more."""

    table: pa.Table
    truncated: bool = False
    complete_until: int | None = None


@dataclass(frozen=True)
class Snapshot(Rows):
    """The rows that hold at the instant `at`; None before there is one."""

    at: int | None = None


@dataclass(frozen=True)
class Changes(Rows):
    """Rows that came (+) and went (-); `cursor` is where to go on, `missed` if some are gone."""

    cursor: int = 0
    missed: bool = False


def _inner(name: str, value: Any) -> Any:
    if name == "columns":
        return tuple(ColumnInfo.of(column) for column in value)
    return tuple(value) if isinstance(value, list) else value
