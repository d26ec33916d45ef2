"""From the columns of a file to those that were declared: the same values, or an error."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from tidemill.algebra.fitting import Misfit, cast_exactly
from tidemill.algebra.schema import Schema
from tidemill.algebra.types import UnknownType, name_of, normalize


class Unreadable(ValueError):
    """Why a file cannot be read as it was declared."""


def place_of(column: str, names: Sequence[str]) -> int:
    """Where a column is among those of a file, whatever the case of its name.

    >>> place_of("Price", ["item", "price"])
    1
    """
    if names.count(column) == 1:
        return names.index(column)
    folded = column.casefold()
    found = [place for place, name in enumerate(names) if name.casefold() == folded]
    if len(found) > 1:
        raise Unreadable(f"column `{column}` is there {len(found)} times")
    if not found:
        raise Unreadable(f"column `{column}` is missing; there are {', '.join(names) or 'none'}")
    return found[0]


def as_declared(table: pa.Table, declared: Schema, columns: Sequence[str]) -> pa.Table:
    """The wanted columns in their declared types."""
    wanted = declared.select(columns)
    places = [place_of(column, table.column_names) for column in columns]
    parts = [
        _cast(table.column(place), field.name, field.type)
        for place, field in zip(places, wanted, strict=True)
    ]
    if not parts:
        return table.select([])  # which still knows how many rows there are
    return pa.Table.from_arrays(parts, schema=wanted.to_arrow())


def _cast(values: pa.ChunkedArray, name: str, wanted: pa.DataType) -> pa.ChunkedArray:
    if values.type == wanted and not pa.types.is_timestamp(wanted):
        return values
    if not _holds(wanted, values.type):
        raise Unreadable(f"column `{name}` is {_shown(values.type)}, not {_shown(wanted)}")
    try:
        return cast_exactly(values, wanted)
    except Misfit as error:
        raise Unreadable(f"column `{name}`, {error}") from error


def _shown(kind: pa.DataType) -> str:
    try:
        return name_of(normalize(kind))
    except UnknownType:
        return str(kind)


def _holds(wanted: pa.DataType, kind: pa.DataType) -> bool:
    """Whether a type has all values of another, so that none changes.

    >>> _holds(pa.int64(), pa.uint32()), _holds(pa.int32(), pa.int64())
    (True, False)
    """
    try:
        kind = normalize(kind)
    except UnknownType:
        return False
    if kind == wanted or pa.types.is_null(kind):
        return True
    if pa.types.is_integer(kind):
        return _holds_integers(wanted, kind.bit_width)
    if pa.types.is_decimal(kind) and pa.types.is_decimal(wanted):
        before = wanted.precision - wanted.scale >= kind.precision - kind.scale
        return bool(before and wanted.scale >= kind.scale)
    is_float, is_date = pa.types.is_float32(kind), pa.types.is_date(kind)
    return bool(
        (is_float and pa.types.is_float64(wanted)) or (is_date and pa.types.is_timestamp(wanted))
    )


def _holds_integers(wanted: pa.DataType, bits: int) -> bool:
    if pa.types.is_decimal(wanted):
        return bool(wanted.precision - wanted.scale >= len(str(1 << (bits - 1))))
    if pa.types.is_float64(wanted):
        return bits <= 32
    return bool(pa.types.is_integer(wanted) and wanted.bit_width >= bits)
