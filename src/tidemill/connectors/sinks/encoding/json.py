"""Lines of JSON as Spark writes and reads them; Arrow can only read them."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import orjson
import polars as pl
import pyarrow as pa

from tidemill.connectors.sinks.encoding.texts import with_texts_of_time

Encode = Callable[[Any], Any]

_ROWS_AT_ONCE = 20_000


def encoded(table: pa.Table, leave_out_nulls: bool = True) -> bytes:
    """A line for every row; a field that is NULL is left out, unless that is not wanted.

    >>> encoded(pa.table({"a": [1, None], "b": [[0.5, None], None]}))
    b'{"a":1,"b":[0.5,null]}\\n{}\\n'
    """
    columns = [_maker(field.type, leave_out_nulls) for field in table.schema]
    plain = with_texts_of_time(pl.DataFrame(table)).to_arrow()
    lines = bytearray()
    for batch in plain.to_batches(max_chunksize=_ROWS_AT_ONCE):
        values = [map(make, c.to_pylist()) for make, c in zip(columns, batch.columns, strict=True)]
        for row in zip(*values, strict=True):
            named = zip(table.column_names, row, strict=True)
            lines += orjson.dumps(_fields(named, leave_out_nulls), option=orjson.OPT_APPEND_NEWLINE)
    return bytes(lines)


def _fields(named: Iterator[tuple[str, Any]], leave_out_nulls: bool) -> dict[str, Any]:
    if not leave_out_nulls:
        return dict(named)
    return {name: value for name, value in named if value is not None}


def _maker(kind: pa.DataType, leave_out_nulls: bool) -> Encode:
    """What makes of a value of a column something that JSON has."""
    make = _of_value(kind, leave_out_nulls)
    return lambda value: None if value is None else make(value)


def _of_value(kind: pa.DataType, leave_out_nulls: bool) -> Encode:
    if pa.types.is_struct(kind):
        parts = {field.name: _maker(field.type, leave_out_nulls) for field in kind}
        return lambda value: _fields(
            ((name, make(value[name])) for name, make in parts.items()), leave_out_nulls
        )
    if pa.types.is_map(kind):
        item, key = _maker(kind.item_type, leave_out_nulls), _maker(kind.key_type, leave_out_nulls)
        return lambda value: {_name(key(k)): item(v) for k, v in value}
    if pa.types.is_list(kind):
        item = _maker(kind.value_type, leave_out_nulls)
        return lambda value: [item(each) for each in value]
    return _SIMPLE.get(kind, _decimal if pa.types.is_decimal(kind) else _same)


def _same(value: Any) -> Any:
    return value


def _decimal(value: Any) -> orjson.Fragment:
    """All its digits, which a float would not have."""
    return orjson.Fragment(format(value, "f"))


def _float(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _short_float(value: float) -> float | str:
    """With the digits that tell it apart from other short ones, and no more."""
    return _float(float(str(np.float32(value))))


def _timestamp(value: Any) -> str:
    """Those of columns are texts by now: they may be too far away for Python."""
    return value if isinstance(value, str) else str(value.isoformat(timespec="microseconds"))


def _binary(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def _name(key: Any) -> str:
    """A key of a map; in JSON all are texts."""
    return key if isinstance(key, str) else orjson.dumps(key).decode("utf-8").strip('"')


_SIMPLE: dict[pa.DataType, Encode] = {
    pa.float32(): _short_float,
    pa.float64(): _float,
    pa.timestamp("us"): _timestamp,
    pa.binary(): _binary,
}
