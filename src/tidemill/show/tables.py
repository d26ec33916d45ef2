"""Rows with the time in which they hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from tidemill.algebra import Schema
from tidemill.algebra.types import name_of
from tidemill.timeline import VALID_FROM, VALID_TO, TimeDomain
from tidemill.wire.base import Column, Domain
from tidemill.wire.values import dumps, instants, values

TIMES = (VALID_FROM, VALID_TO)


def columns_of(schema: Schema) -> list[Column]:
    """Names and types.

    >>> columns_of(Schema.of(n=pa.int64()))
    [Column(name='n', type='BIGINT')]
    """
    return [Column(name=field.name, type=name_of(field.type)) for field in schema]


_DOMAINS: dict[TimeDomain | None, Domain] = {
    TimeDomain.TICKS: "ticks",
    TimeDomain.MICROSECONDS: "microseconds",
    None: None,
}


def domain_of(domain: TimeDomain | None) -> Domain:
    """What one step of time is."""
    return _DOMAINS[domain]


@dataclass(frozen=True)
class Answer:
    """Rows of a query with the time in which they hold, and what `more` there is to say."""

    table: pa.Table
    schema: Schema
    domain: TimeDomain | None
    truncated: bool = False
    complete_until: int | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    def fields(self) -> dict[str, Any]:
        """The fields of a `Table`; its values are many, and were made plain already."""
        own = [self.table.column(name) for name in self.schema.names]
        columns = [values(column) for column in own]
        rows = list(zip(*columns, strict=True)) if columns else []
        times = {
            name: instants(self.table.column(name))
            for name in self.table.column_names[len(own) :]
            if name in TIMES
        }
        return {
            "columns": columns_of(self.schema),
            "domain": domain_of(self.domain),
            "rows": rows,
            VALID_FROM: times.get(VALID_FROM, []),
            VALID_TO: times.get(VALID_TO, []),
            "truncated": self.truncated,
            "complete_until": self.complete_until,
            **self.more,
        }

    def json(self) -> bytes:
        """As JSON."""
        return dumps(self.fields())

    def arrow(self) -> bytes:
        """As a stream of Arrow; what else there is to say is in the metadata of its schema."""
        facts = {"truncated": self.truncated, "complete_until": self.complete_until}
        facts |= {name: value for name, value in self.more.items() if name not in self._columns}
        table = self._whole().replace_schema_metadata({"tidemill": dumps(facts)})
        buffer = BytesIO()
        with pa.ipc.new_stream(buffer, table.schema) as writer:
            writer.write_table(table)
        return buffer.getvalue()

    @property
    def _columns(self) -> list[str]:
        """What is shown of every row besides its columns."""
        return [name for name, value in self.more.items() if isinstance(value, list)]

    def _whole(self) -> pa.Table:
        table = self.table
        for name in self._columns:
            table = table.append_column(name, pa.array(self.more[name]))
        return table

    def csv(self) -> bytes:
        """As CSV with a line of names."""
        buffer = BytesIO()
        pyarrow.csv.write_csv(_harmless(_flat(self._whole()), self.table.column_names), buffer)
        return buffer.getvalue()


def _flat(table: pa.Table) -> pa.Table:
    """CSV has no lists and no structures: these are written as JSON."""
    for number, (name, kind) in enumerate(zip(table.column_names, table.schema.types, strict=True)):
        if pa.types.is_nested(kind) or pa.types.is_binary(kind):
            texts = [None if v is None else dumps(v).decode() for v in values(table.column(number))]
            table = table.set_column(number, name, pa.array(texts, pa.string()))
    return table


def _harmless(table: pa.Table, names: Iterable[str]) -> pa.Table:
    """Texts that a spreadsheet would take for a formula, and run, with an apostrophe before them.

    >>> rows = pa.table({"a": ["=1+1", "b=1", None], "n": [-1, 0, 1]})
    >>> _harmless(rows, ["a"]).column("a").to_pylist()
    ["'=1+1", 'b=1', None]
    """
    for name in names:
        place = table.column_names.index(name)
        if pa.types.is_string(table.schema.types[place]):
            texts = pc.replace_substring_regex(table.column(place), r"^([=+\-@\t\r])", r"'\1")
            table = table.set_column(place, name, texts)
    return table
