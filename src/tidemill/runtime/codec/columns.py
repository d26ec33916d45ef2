"""Arrays and frames as cells of Arrow, and back, without copying them."""

from __future__ import annotations

import json
import mmap
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from tidemill.physical.mechanisms.arrays import Array

_PLAIN = "iuf"
"""Kinds of NumPy's numbers that Arrow has too."""

Block = bytearray | mmap.mmap
"""The bytes of a file, which may be changed in memory."""


def layout_of(dtype: np.dtype[Any]) -> Any:
    """What tells a type of NumPy: its name, or where the fields of a row are.

    >>> dtype_of(layout_of(np.dtype([("key", np.int64), ("at", np.int32)], align=True)))
    dtype([('key', '<i8'), ('at', '<i4')], align=True)
    """
    if dtype.names is None:
        return dtype.str
    fields = [(name, *dtype.fields[name][:2]) for name in dtype.names] if dtype.fields else []
    return [
        [[name, kind.str, at] for name, kind, at in fields],
        dtype.itemsize,
        dtype.isalignedstruct,
    ]


def dtype_of(layout: Any) -> np.dtype[Any]:
    """The type that a layout tells."""
    if isinstance(layout, str):
        return np.dtype(layout)
    fields, size, aligned = layout
    names, formats, offsets = zip(*fields, strict=True)
    known: Any = {"names": names, "formats": formats, "offsets": offsets, "itemsize": size}
    found: np.dtype[Any] = np.dtype(known, align=aligned)
    return found


def is_storable(array: Array) -> bool:
    """Whether an array has numbers, or rows of numbers, that lie where a file can have them."""
    return array.dtype.kind in _PLAIN + "bV" and not array.dtype.hasobject


def array_cell(array: Array) -> pa.Array:
    """One cell with all numbers of an array."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.dtype.kind in _PLAIN:
        return _cell(pa.array(flat))
    if flat.dtype.kind == "b":
        return _cell(pa.array(flat.view(np.uint8)))
    size = flat.dtype.itemsize
    content = pa.py_buffer(flat.view(np.uint8)) if len(flat) else pa.py_buffer(b"")
    return _cell(pa.Array.from_buffers(pa.binary(size), len(flat), [None, content]))


def text_cell(values: list[Any]) -> pa.Array:
    """One cell with values as texts of JSON."""
    return _cell(pa.array([json.dumps(value) for value in values], pa.large_string()))


def frame_cell(frame: pl.DataFrame) -> pa.Array:
    """One cell with all rows of a frame."""
    table = frame.to_arrow(compat_level=pl.CompatLevel.newest())
    columns = [_whole(column) for column in table.columns]
    if not columns:
        return _cell(pa.nulls(0, pa.struct([])))
    return _cell(pa.StructArray.from_arrays(columns, fields=list(table.schema)))


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _cell(values: pa.Array) -> pa.Array:
    return pa.LargeListArray.from_arrays(pa.array([0, len(values)], pa.int64()), values)


def array_of(cell: pa.Array, layout: Any, shape: list[int], block: Block) -> Array:
    """The array of a cell; it shares the memory of the block, and may change it."""
    dtype = dtype_of(layout)
    content = cell.values.buffers()[-1]
    count = int(np.prod(shape, dtype=np.int64))
    if not count or content is None:
        return np.empty(shape, dtype)
    at = content.address - pa.py_buffer(block).address + cell.values.offset * dtype.itemsize
    if len(cell.values) * dtype.itemsize != count * dtype.itemsize:
        raise ValueError("an array has another size than its file says")
    found: Array = np.frombuffer(block, dtype, count, at).reshape(shape)
    return found


def texts_of(cell: pa.Array) -> list[Any]:
    """The values of a cell of texts."""
    return [json.loads(text) for text in cell.values.to_pylist()]


def frame_of(cell: pa.Array) -> pl.DataFrame:
    """The rows of a cell, which they go on using."""
    rows = cell.values
    columns = [rows.field(at) for at in range(rows.type.num_fields)]
    return pl.DataFrame(pa.Table.from_arrays(columns, schema=pa.schema(list(rows.type))))
