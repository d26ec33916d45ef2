"""Values as a tree of JSON and columns of Arrow."""

from __future__ import annotations

import base64
import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.aggregates import UserAggregate
from tidemill.errors import ExecutionError
from tidemill.expressions import UserFunction
from tidemill.runtime.codec.columns import array_cell, frame_cell, is_storable, layout_of, text_cell
from tidemill.runtime.codec.kinds import tree_name, type_text
from tidemill.runtime.codec.names import attribute_name, class_version, name_of, remembered

_MOST_NAME = 120
"""Characters of the name of a column."""


class Encoder:
    """Turns one value into a tree. Objects, arrays and frames that occur twice are written once."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self.cells: list[pa.Array] = []
        self.names: list[str] = []
        self._known: dict[int, Any] = {}
        self._alive: list[Any] = []  # else another object might get the identity of one

    def value(self, value: Any, path: str = "") -> Any:
        """The tree of a value; the path names the columns of what is in it."""
        kind = type(value)
        if value is None or kind is bool or kind is str or kind is int:
            return value
        if kind is float:
            return value if math.isfinite(value) else ["float", repr(value)]
        if (known := self._known.get(id(value))) is not None:
            return known
        way = _KNOWN.get(kind)
        if way is None:
            way = _KNOWN[kind] = _way(kind)
        return way(self, value, path)

    def many(self, values: Iterable[Any], path: str) -> list[Any]:
        """The trees of several values."""
        return [self.value(value, f"{path}.{at}") for at, value in enumerate(values)]

    def cell(self, cell: pa.Array, path: str) -> int:
        """Keep a cell; the number of its column."""
        self.cells.append(cell)
        self.names.append(path.removeprefix(".")[-_MOST_NAME:] or "value")
        return len(self.cells) - 1

    def know(self, value: Any, tree: Any) -> Any:
        """Remember how something was written, so that it is the same when it occurs again."""
        self._known[id(value)] = tree
        self._alive.append(value)
        return tree

    def keep(self, value: Any, name: str, content: dict[str, Any]) -> Any:
        """An object, under its number."""
        self.objects.append([name, class_version(name), content])
        return self.know(value, ["ref", len(self.objects) - 1])


_Way = Callable[[Encoder, Any, str], Any]


_KNOWN: dict[type[Any], _Way] = {}


def _way(kind: type[Any]) -> _Way:
    """How values of a class are written."""
    for known, way in _WAYS:
        if issubclass(kind, known):
            return way
    name = name_of(kind)
    if name is not None and (attributes := remembered(kind)) is not None:
        return _attributes(name, attributes)
    if name is not None and issubclass(kind, Enum):
        return lambda encoder, value, path: ["enum", name, value.name]
    if name is not None and is_dataclass(kind):
        return _attributes(name, tuple(field.name for field in fields(kind)))
    if name is not None and issubclass(kind, tuple):
        return _attributes(name, getattr(kind, "_fields", ()))
    if issubclass(kind, tuple) and not hasattr(kind, "_fields"):
        return _sequence("tuple")
    return _refused


def _refused(encoder: Encoder, value: Any, path: str) -> Any:
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    raise ExecutionError(
        f"a checkpoint cannot hold a value of the type {kind} ({path.removeprefix('.')})",
        help="the partial results of a Python aggregate must consist of numbers, strings, bytes, "
        "dates, tuples, lists, dicts and sets",
    )


def _attributes(name: str, attributes: tuple[str, ...]) -> _Way:
    names = {each: attribute_name(name, each) for each in attributes}

    def way(encoder: Encoder, value: Any, path: str) -> Any:
        content = {
            stored: encoder.value(getattr(value, each), f"{path}.{stored.lstrip('_')}")
            for each, stored in names.items()
        }
        return encoder.keep(value, name, content)

    return way


def _sequence(tag: str) -> _Way:
    return lambda encoder, value, path: [tag, encoder.many(value, path)]


def _dict(encoder: Encoder, value: dict[Any, Any], path: str) -> Any:
    pairs = [
        [encoder.value(key, path), encoder.value(each, f"{path}.{_short(key)}")]
        for key, each in value.items()
    ]
    return ["dict", pairs]


def _short(key: Any) -> str:
    return str(key) if isinstance(key, str | int) else type(key).__name__


def _array(encoder: Encoder, array: Any, path: str) -> Any:
    if array.dtype == object:
        cell = text_cell(encoder.many(array.reshape(-1).tolist(), path))
        tree = ["objects", encoder.cell(cell, path), list(array.shape)]
    elif is_storable(array):
        column = encoder.cell(array_cell(array), path)
        tree = ["array", column, layout_of(array.dtype), list(array.shape)]
    else:
        return _refused(encoder, array, path)
    return encoder.know(array, tree)


def _frame(encoder: Encoder, frame: pl.DataFrame, path: str) -> Any:
    return encoder.know(frame, ["frame", encoder.cell(frame_cell(frame), path)])


def _series(encoder: Encoder, series: pl.Series, path: str) -> Any:
    return encoder.know(series, ["series", encoder.cell(frame_cell(series.to_frame()), path)])


def _tree(encoder: Encoder, node: exp.Expr, path: str) -> Any:
    name = tree_name(node)
    if name is None:
        return _refused(encoder, node, path)
    arguments = {key: _argument(encoder, each, path) for key, each in node.args.items()}
    return ["sql", name, arguments]


def _argument(encoder: Encoder, value: Any, path: str) -> Any:
    if isinstance(value, exp.DType):
        return ["sqltype", value.name]
    if isinstance(value, list):
        return ["list", [_argument(encoder, each, path) for each in value]]
    return encoder.value(value, path)


def _span(value: timedelta) -> tuple[int, int, int]:
    return value.days, value.seconds, value.microseconds


def _function(tag: str) -> _Way:
    return lambda encoder, value, path: [tag, value.name, value.version]


_WAYS: list[tuple[Any, _Way]] = [
    (np.bool_, lambda encoder, value, path: bool(value)),
    (np.integer, lambda encoder, value, path: int(value)),
    (np.floating, lambda encoder, value, path: encoder.value(float(value))),
    (np.ndarray, _array),
    (pl.DataFrame, _frame),
    (pl.Series, _series),
    (pa.DataType, lambda encoder, value, path: ["type", type_text(value)]),
    (exp.Expr, _tree),
    (UserFunction, _function("function")),
    (UserAggregate, _function("aggregate")),
    (dict, _dict),
    (list, _sequence("list")),
    (set, _sequence("set")),
    (frozenset, _sequence("frozenset")),
    (deque, _sequence("deque")),
    (bytes, lambda encoder, value, path: ["bytes", base64.b64encode(value).decode()]),
    (Decimal, lambda encoder, value, path: ["decimal", str(value)]),
    (datetime, lambda encoder, value, path: ["datetime", value.isoformat()]),
    (date, lambda encoder, value, path: ["date", value.isoformat()]),
    (time, lambda encoder, value, path: ["time", value.isoformat()]),
    (timedelta, lambda encoder, value, path: ["timedelta", *_span(value)]),
]
