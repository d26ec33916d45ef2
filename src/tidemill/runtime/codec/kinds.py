"""Types of columns, and trees of SQL, as plain values."""

from __future__ import annotations

import base64
from functools import cache
from typing import Any

import pyarrow as pa
from sqlglot import exp

from tidemill.sql import nodes

_OURS = "tidemill."


@cache
def type_text(data_type: pa.DataType) -> str:
    """A type of Arrow as text: its name, or else the bytes of a schema.

    >>> type_text(pa.int64()), type_of(type_text(pa.list_(pa.decimal128(9, 2))))
    ('int64', ListType(list<item: decimal128(9, 2)>))
    """
    text = str(data_type)
    try:
        if pa.type_for_alias(text) == data_type:
            return text
    except ValueError:
        pass
    schema = pa.schema([pa.field("", data_type)]).serialize()
    return "=" + base64.b64encode(schema.to_pybytes()).decode()


@cache
def type_of(text: str) -> pa.DataType:
    """The type that a text stands for."""
    if not text.startswith("="):
        return pa.type_for_alias(text)
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text[1:]))).field(0).type


def tree_name(node: exp.Expr) -> str | None:
    """The name of a node of SQL in files, if it may be there."""
    own = type(node).__name__
    if getattr(nodes, own, None) is type(node) and type(node).__module__ == nodes.__name__:
        return _OURS + own
    return own if getattr(exp, own, None) is type(node) else None


@cache
def tree_class(name: str) -> type[Any] | None:
    """The class of a node of SQL: one of sqlglot's or one of ours, and nothing else."""
    found = getattr(nodes if name.startswith(_OURS) else exp, name.removeprefix(_OURS), None)
    return found if isinstance(found, type) and issubclass(found, exp.Expr) else None
