"""Values for columns whose type is given: unchanged, or an error, never anything else."""

from __future__ import annotations

import math
import operator
import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Context, Decimal, Inexact, InvalidOperation
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tidemill.algebra.types import name_of

EARLIEST, LATEST = -62_135_596_800_000_000, 253_402_300_799_999_999
"""The timestamps of the years 1 to 9999, which are all that there are, in microseconds."""

_EPOCH = datetime(1970, 1, 1)
_LARGEST_FLOAT = 3.4028235677973366e38
"""From here on, a number would become infinite."""

_TOO_FINE = re.compile(r"\.\d{6}\d*[1-9]")


class Misfit(ValueError):
    """A value that a column cannot hold, and which row it is in, counted from 1."""

    def __init__(self, reason: str, row: int | None = None) -> None:
        super().__init__(reason if row is None else f"row {row}: {reason}")


def fitted(values: Sequence[Any], wanted: pa.DataType, texts: bool = False) -> pa.Array:
    """Values in the type of a column; with `texts`, also as JSON writes what it has no type for.

    >>> fitted([1, 2.0, None], pa.int64()).to_pylist()
    [1, 2, None]
    >>> fitted([1, 2.5], pa.int64())
    Traceback (most recent call last):
    tidemill.algebra.fitting.Misfit: row 2: 2.5 is no BIGINT
    """
    quick = _at_once(values, wanted)
    if quick is not None:
        return quick
    found = []
    for row, value in enumerate(values, 1):
        try:
            found.append(_fit(value, wanted, texts))
        except (Misfit, ValueError, TypeError, ArithmeticError, AttributeError) as error:
            raise Misfit(_reason(error, value, wanted), row) from None
    try:
        return pa.array(found, wanted)
    except (pa.ArrowException, OverflowError) as error:
        raise Misfit(str(error)) from None


def fitted_value(value: Any, wanted: pa.DataType) -> Any:
    """One value, as a column of that type holds it."""
    try:
        return _fit(value, wanted, False)
    except (Misfit, ValueError, TypeError, ArithmeticError, AttributeError) as error:
        raise Misfit(_reason(error, value, wanted)) from None


def cast_exactly(values: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    """A column in another type, if no value changes but by the last digits of a float."""
    if (reason := _lost(values.type, wanted)) is not None:
        raise Misfit(reason)
    try:
        return _checked(values, wanted)
    except (pa.ArrowInvalid, Misfit) as error:
        row = _first(values, wanted)
        reason = str(error) if row is None else f"{_shown(values[row])} is no {name_of(wanted)}"
        raise Misfit(reason, None if row is None else row + 1) from None
    except pa.ArrowNotImplementedError as error:
        raise Misfit(str(error)) from None


def _shown(value: pa.Scalar) -> str:
    try:
        return repr(value.as_py())
    except (OverflowError, ValueError):  # a time that is none
        return str(value.cast(pa.int64()).as_py())


def _checked(values: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    cast = values if values.type == wanted else values.cast(wanted)
    if pa.types.is_timestamp(wanted):
        numbers = cast.cast(pa.int64())
        _must(pc.and_(pc.greater_equal(numbers, EARLIEST), pc.less_equal(numbers, LATEST)))
    elif pa.types.is_float32(wanted) and values.type != wanted:
        _must(pc.or_(pc.is_finite(cast), pc.invert(pc.is_finite(values))))
    elif pa.types.is_decimal(wanted) and pa.types.is_floating(values.type):
        _must(pc.equal(cast.cast(values.type), values))
    return cast


def _must(good: Any) -> None:
    if not pc.all(good, min_count=0).as_py():
        raise Misfit("it does not fit")


def _first(values: pa.ChunkedArray, wanted: pa.DataType) -> int | None:
    """The first value that cannot be cast: found by halves."""
    low, high = 0, len(values)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            _checked(values.slice(low, middle - low), wanted)
            low = middle
        except (pa.ArrowInvalid, Misfit):
            high = middle
    return low if high > low else None


def _lost(given: pa.DataType, wanted: pa.DataType) -> str | None:
    """What a cast would leave out: Arrow drops fields of structs that it does not find."""
    if pa.types.is_struct(given) and pa.types.is_struct(wanted):
        fields = {field.name: field.type for field in wanted}
        for field in given:
            if field.name not in fields:
                return f"there is no field `{field.name}` in {name_of(wanted)}"
            if (reason := _lost(field.type, fields[field.name])) is not None:
                return reason
    elif pa.types.is_list(given) and pa.types.is_list(wanted):
        return _lost(given.value_type, wanted.value_type)
    elif pa.types.is_boolean(given) and not pa.types.is_boolean(wanted):
        return f"BOOLEAN is no {name_of(wanted)}"
    return None


def _at_once(values: Sequence[Any], wanted: pa.DataType) -> pa.Array | None:
    """All values, if Arrow sees by itself that they are of the type, or of a wider one."""
    if pa.types.is_timestamp(wanted) and not all(type(v) is datetime or v is None for v in values):
        return None  # those of Pandas have nanoseconds
    try:
        found = pa.array(values)
        if found.type == wanted:
            return found
        if pa.types.is_integer(found.type) and pa.types.is_integer(wanted):
            return found.cast(wanted)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        pass
    return None


def _reason(error: Exception, value: Any, wanted: pa.DataType) -> str:
    if isinstance(error, Misfit):
        return str(error)
    shown = repr(value)
    return f"{shown if len(shown) <= 60 else shown[:60] + '...'} is no {name_of(wanted)}"


def _fit(value: Any, wanted: pa.DataType, texts: bool) -> Any:
    if value is None:
        return None
    for is_kind, read in _READERS:
        if is_kind(wanted):
            return read(value, wanted, texts)
    raise TypeError


def _whole(value: Any, wanted: pa.DataType, texts: bool) -> int:
    number = int(value) if texts and isinstance(value, str) else value
    if isinstance(number, float | Decimal) and number == int(number):
        number = int(number)
    number = operator.index(_number(number))
    if not -(1 << (wanted.bit_width - 1)) <= number < 1 << (wanted.bit_width - 1):
        raise OverflowError
    return number


def _float(value: Any, wanted: pa.DataType, texts: bool) -> float:
    if isinstance(value, str) and not texts:
        raise TypeError
    number = float(_number(value))
    if pa.types.is_float32(wanted) and math.isfinite(number) and abs(number) >= _LARGEST_FLOAT:
        raise OverflowError
    return number


def _decimal(value: Any, wanted: pa.DataType, texts: bool) -> Decimal:
    if isinstance(value, str) and not texts:
        raise TypeError
    exact = Context(prec=wanted.precision, traps=[Inexact, InvalidOperation])
    return Decimal(str(_number(value))).quantize(Decimal(1).scaleb(-wanted.scale), context=exact)


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        raise Misfit("true and false are no numbers")
    return value


def _instant(value: Any, wanted: pa.DataType, texts: bool) -> int:
    """Microseconds since 1970; a text is in UTC, unless it says otherwise."""
    if isinstance(value, str):
        if not texts:
            raise TypeError
        if _TOO_FINE.search(value):
            raise Misfit(f"{value!r} has nanoseconds: a TIMESTAMP has microseconds")
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime):
        if getattr(value, "nanosecond", 0):
            raise Misfit(f"{value!r} has nanoseconds: a TIMESTAMP has microseconds")
        return _micros(value)
    if isinstance(value, date):
        return _micros(datetime(value.year, value.month, value.day))
    number = _whole(value, pa.int64(), texts)
    if not EARLIEST <= number <= LATEST:
        raise OverflowError
    return number


def _micros(value: datetime) -> int:
    naive = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    since = naive - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def _date(value: Any, wanted: pa.DataType, texts: bool) -> date:
    if isinstance(value, str) and texts:
        return date.fromisoformat(value)
    if isinstance(value, datetime) or not isinstance(value, date):
        raise TypeError
    return value


def _text(value: Any, wanted: pa.DataType, texts: bool) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _bytes(value: Any, wanted: pa.DataType, texts: bool) -> bytes:
    if texts and isinstance(value, str):
        try:
            return b64decode(value, validate=True)
        except NotBase64 as error:
            raise Misfit(f"{value[:60]!r} is no base64") from error
    return bytes(memoryview(value))


def _truth(value: Any, wanted: pa.DataType, texts: bool) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _list(value: Any, wanted: pa.DataType, texts: bool) -> list[Any]:
    if isinstance(value, str | bytes | Mapping):
        raise TypeError
    return [_inner(each, wanted.value_type, texts) for each in value]


def _map(value: Any, wanted: pa.DataType, texts: bool) -> list[tuple[Any, Any]]:
    pairs = value.items() if isinstance(value, Mapping) else value
    return [
        (_inner(key, wanted.key_type, texts), _inner(item, wanted.item_type, texts))
        for key, item in pairs
    ]


def _struct(value: Any, wanted: pa.DataType, texts: bool) -> dict[str, Any]:
    fields = {field.name: field.type for field in wanted}
    for name in value.keys():  # noqa: SIM118 (what has no names is no struct)
        if name not in fields:
            raise Misfit(f"there is no field `{name}` in {name_of(wanted)}")
    return {name: _inner(value.get(name), kind, texts) for name, kind in fields.items()}


def _inner(value: Any, wanted: pa.DataType, texts: bool) -> Any:
    try:
        return _fit(value, wanted, texts)
    except (ValueError, TypeError, ArithmeticError, AttributeError) as error:
        raise Misfit(_reason(error, value, wanted)) from None


_READERS: list[tuple[Callable[[pa.DataType], bool], Callable[[Any, pa.DataType, bool], Any]]] = [
    (pa.types.is_integer, _whole),
    (pa.types.is_floating, _float),
    (pa.types.is_decimal, _decimal),
    (pa.types.is_timestamp, _instant),
    (pa.types.is_date, _date),
    (pa.types.is_string, _text),
    (pa.types.is_binary, _bytes),
    (pa.types.is_boolean, _truth),
    (pa.types.is_map, _map),
    (pa.types.is_list, _list),
    (pa.types.is_struct, _struct),
]
