"""The formats of files that are written without Spark, with the options and types they know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from tidemill.algebra.types import name_of
from tidemill.connectors.sinks.encoding import columnar, json
from tidemill.connectors.sinks.encoding.csv import Style
from tidemill.connectors.sinks.encoding.options import NotOurs, Options, compressed, text_suffix

Part = bytes | memoryview


@dataclass(frozen=True)
class _Format:
    """How to encode, what names of files end with, and which types have no place in it."""

    encoder: Callable[[Options], tuple[Callable[[pa.Table], Part], str]]
    refused: tuple[Callable[[pa.DataType], bool], ...]


def _csv(options: Options) -> tuple[Callable[[pa.Table], Part], str]:
    style, suffix = Style.of(options), text_suffix(options)
    return lambda table: compressed(style.encoded(table).encode("utf-8"), suffix), f".csv{suffix}"


def _json(options: Options) -> tuple[Callable[[pa.Table], Part], str]:
    leave_out, suffix = options.flag("ignoreNullFields", default=True), text_suffix(options)
    return lambda table: compressed(json.encoded(table, leave_out), suffix), f".json{suffix}"


# Arrow writes INTERVAL so that only Arrow reads it again; to others it would be a number.
_FORMATS = {
    "parquet": _Format(lambda o: (columnar.parquet(o), ".parquet"), (pa.types.is_duration,)),
    "csv": _Format(_csv, (pa.types.is_nested, pa.types.is_binary, pa.types.is_duration)),
    "json": _Format(_json, (pa.types.is_duration,)),
    "orc": _Format(lambda o: (columnar.orc(o), ".orc"), (pa.types.is_duration, pa.types.is_null)),
    "arrow": _Format(lambda o: (columnar.arrow(o), ".arrow"), ()),
}

FORMATS = tuple(_FORMATS)


@dataclass(frozen=True)
class Encoding:
    """A format with its options. It can be sent to other processes.

    >>> Encoding("csv", {"header": True}).encode(pa.table({"a": [1]})), Encoding("csv").suffix
    (b'a\\n1\\n', '.csv')
    """

    format: str
    options: Mapping[str, Any] | None = None

    @cached_property
    def _made(self) -> tuple[Callable[[pa.Table], Part], str]:
        options = Options(self.options or {})
        made = _FORMATS[self.format].encoder(options)
        options.end()
        return made

    @property
    def suffix(self) -> str:
        """What names of files end with."""
        return self._made[1]

    def encode(self, table: pa.Table) -> Part:
        """The bytes of a file."""
        return self._made[0](table)

    def __getstate__(self) -> dict[str, Any]:
        # Functions that are made here cannot be sent; they are made again there.
        return {"format": self.format, "options": self.options}


def encoding_of(format: str, options: Mapping[str, Any], columns: pa.Schema) -> Encoding:
    """How tables with these columns are written; it raises `NotOurs` if they cannot be."""
    for field in columns:
        for kind in _kinds(field.type):
            if any(is_refused(kind) for is_refused in _FORMATS[format].refused):
                raise NotOurs(f"the column {field.name} is {name_of(field.type)}")
    encoding = Encoding(format, dict(options))
    encoding.encode(columns.empty_table())  # finds out what is wrong with the options
    return encoding


def _kinds(kind: pa.DataType) -> Iterator[pa.DataType]:
    """A type and those inside it."""
    yield kind
    parts: Iterable[pa.Field] = (kind.field(i) for i in range(kind.num_fields))
    for part in parts:
        yield from _kinds(part.type)
