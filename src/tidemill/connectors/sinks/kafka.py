"""Results as messages of a topic of Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pyarrow as pa

from tidemill.connectors.sinks.encoding import json
from tidemill.connectors.sinks.forms import Shape
from tidemill.errors import ExecutionError, UnsupportedError


class TopicSink:
    """Adds every row of a tick to a topic, as an object of JSON: all rows of it, and once.

    `identity` says who writes: a query with its checkpoint.
    """

    def __init__(self, shape: Shape, options: Mapping[str, Any], identity: str) -> None:
        try:  # not everyone has Kafka
            from tidemill.connectors.kafka.writing import TopicWriter
        except ModuleNotFoundError as error:
            help = "pip install 'tidemill[kafka]'"
            raise ExecutionError(f"Kafka needs the package {error.name}", help=help) from None
        _check(shape)
        self._shape = shape
        self._writer = TopicWriter(options, identity, shape.columns.names)

    @property
    def form(self) -> str:
        return self._shape.form

    def give(self, rows: pl.DataFrame, tick: int) -> None:
        """Write a tick in one transaction, unless it is written."""
        if rows.height:
            self._writer.write(messages(self._shape(rows), self._writer.key), tick)


def _check(shape: Shape) -> None:
    if shape.is_whole:
        raise UnsupportedError(
            "a topic cannot hold a snapshot: in a topic nothing takes the place of what was there",
            help="form => 'changes' tells what comes and goes, which adds up to every snapshot",
        )
    for field in shape.columns:
        if pa.types.is_duration(field.type):
            help = "select its seconds, or leave it out"
            message = f"the column {field.name} is INTERVAL, which JSON does not have"
            raise UnsupportedError(message, help=help)


def messages(table: pa.Table, key: str | None) -> list[tuple[bytes | None, bytes]]:
    """The key and the value of a message for every row.

    >>> messages(pa.table({"item": ["lamp"], "n": [3]}), "item")
    [(b'lamp', b'{"item":"lamp","n":3}')]
    >>> messages(pa.table({"at": [7, None]}), "at")
    [(b'7', b'{"at":7}'), (None, b'{"at":null}')]
    """
    values = json.encoded(table, leave_out_nulls=False).split(b"\n")[:-1]
    if key is None:
        return [(None, value) for value in values]
    return list(zip(_keys(table.column(key)), values, strict=True))


def _keys(column: pa.ChunkedArray) -> list[bytes | None]:
    """Texts and bytes as they are, other values as JSON has them."""
    if column.type == pa.binary():
        return list(column.to_pylist())
    if column.type == pa.string():
        return list(column.cast(pa.binary()).to_pylist())
    lines = json.encoded(pa.table({"": column})).split(b"\n")[:-1]
    return [None if line == b"{}" else line[len(b'{"":') : -1] for line in lines]
