"""From text to values, exactly as Spark reads them; what it would not read is an error."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tidemill.algebra.types import name_of
from tidemill.connectors.feeds.columns import Unreadable

_BLANK = r"[\x00-\x20]*"
_DIGITS = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_INTEGER = r"^[+-]?[0-9]+$"
_DECIMAL = rf"^[+-]?{_DIGITS}$"
_FLOAT = rf"^{_BLANK}(?:[+-]?{_DIGITS}|NaN|[+-]?Infinity){_BLANK}$|^-?Inf$"
_DIGITS_OF_SECONDS = 6
_CONTROL = "".join(map(chr, range(0x21)))

# What Arrow reads just as Spark does; whatever else Spark reads goes value by value.
_PLAIN_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_PLAIN_TIME = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)?$"
)
_DAY = r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2})"
_DATE = re.compile(rf"{_BLANK}{_DAY}(?:[ T].*)?)?)?{_BLANK}", re.DOTALL)
_CLOCK = r"[ T]([0-9]{1,2})(?::([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]*))?)?)?"
_TIME = re.compile(rf"{_BLANK}{_DAY}(?:{_CLOCK})?)?)?{_BLANK}")


def values_of(texts: pa.ChunkedArray, name: str, wanted: pa.DataType) -> pa.ChunkedArray:
    """The values that texts stand for, in the type of a column.

    >>> values_of(pa.chunked_array([["1", None, "+20"]]), "price", pa.int64()).to_pylist()
    [1, None, 20]
    """
    if wanted in (pa.string(), pa.binary()):
        return texts.cast(wanted)
    return _reader(wanted)(texts, name, wanted)


def _reader(wanted: pa.DataType) -> Callable[..., pa.ChunkedArray]:
    if pa.types.is_integer(wanted):
        return _integers
    if pa.types.is_floating(wanted):
        return _floats
    if pa.types.is_decimal(wanted):
        return _decimals
    if pa.types.is_boolean(wanted):
        return _booleans
    if pa.types.is_date(wanted):
        return _dates
    if pa.types.is_timestamp(wanted):
        return _times
    raise Unreadable(f"values of type {name_of(wanted)} cannot be in such a file")


def no_value(name: str, text: Any, wanted: pa.DataType) -> Unreadable:
    """The complaint about a value that is not of the type of its column."""
    shown = repr(text if len(str(text)) <= 60 else f"{str(text)[:60]}...")
    return Unreadable(f"column `{name}`: {shown} is no {name_of(wanted)}")


def _held(texts: pa.ChunkedArray, good: Any, name: str, wanted: pa.DataType) -> None:
    """Complain about the first text that is not as it should be."""
    if not pc.all(good, min_count=0).as_py():
        bad = texts.filter(pc.invert(good))
        raise no_value(name, bad[0].as_py(), wanted)


def _checked_cast(
    texts: pa.ChunkedArray, cleaned: pa.ChunkedArray, name: str, wanted: pa.DataType
) -> pa.ChunkedArray:
    try:
        return cleaned.cast(wanted)
    except pa.ArrowInvalid:
        # The first that does not fit: found only when there is one.
        for text, value in zip(texts, cleaned, strict=True):
            try:
                value.cast(wanted)
            except pa.ArrowInvalid:
                raise no_value(name, text.as_py(), wanted) from None
        raise


def _at_once(texts: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray | None:
    try:
        return texts.cast(wanted)
    except pa.ArrowInvalid:
        return None


def _integers(texts: pa.ChunkedArray, name: str, wanted: pa.DataType) -> pa.ChunkedArray:
    # Of texts that Spark refuses, Arrow reads only those like 0x1F.
    found = _at_once(texts, wanted)
    if found is not None and not pc.any(pc.match_substring_regex(texts, "[xX]")).as_py():
        return found
    _held(texts, pc.match_substring_regex(texts, _INTEGER), name, wanted)
    unsigned = pc.utf8_ltrim(texts, characters="+")
    return _checked_cast(texts, unsigned, name, wanted)


def _floats(texts: pa.ChunkedArray, name: str, wanted: pa.DataType) -> pa.ChunkedArray:
    # Of texts that Spark refuses, Arrow reads only other spellings of NaN and Infinity.
    found = _at_once(texts, wanted)
    if found is not None and pc.all(pc.is_finite(found), min_count=0).as_py():
        return found
    _held(texts, pc.match_substring_regex(texts, _FLOAT), name, wanted)
    trimmed = pc.utf8_ltrim(pc.utf8_trim(texts, characters=_CONTROL), characters="+")
    found = _checked_cast(texts, trimmed, name, wanted)
    # Spark would make them infinite.
    named = pc.match_substring_regex(texts, "[nN]")
    _held(texts, pc.or_(pc.is_finite(found), named), name, wanted)
    return found


def _booleans(texts: pa.ChunkedArray, name: str, wanted: pa.DataType) -> pa.ChunkedArray:
    small = pc.ascii_lower(texts)
    true = pc.equal(small, "true")
    _held(texts, pc.or_(true, pc.equal(small, "false")), name, wanted)
    return true


def _decimals(texts: pa.ChunkedArray, name: str, wanted: pa.DataType) -> pa.ChunkedArray:
    plain = pc.replace_substring(texts, ",", "")  # 1,234.50 is how Spark knows thousands
    _held(texts, pc.match_substring_regex(plain, _DECIMAL), name, wanted)
    try:
        return plain.cast(wanted)
    except pa.ArrowInvalid:  # digits that do not fit are rounded, one by one
        rounded = [decimal_of(text, name, wanted) for text in plain.to_pylist()]
        return pa.chunked_array([pa.array(rounded, wanted)])


def decimal_of(text: str | None, name: str, wanted: pa.DataType) -> Decimal | None:
    """A number rounded to the digits of a type; halves go away from zero."""
    if text is None:
        return None
    number = Decimal(text)
    if number.adjusted() >= wanted.precision - wanted.scale and number:
        raise no_value(name, text, wanted)
    step = Decimal(1).scaleb(-wanted.scale)
    context = Context(prec=max(wanted.precision, 1) + 2)
    number = number.quantize(step, ROUND_HALF_UP, context)
    if len(number.as_tuple().digits) > wanted.precision:
        raise no_value(name, text, wanted)
    return number


def _dates(texts: pa.ChunkedArray, name: str, wanted: pa.DataType) -> pa.ChunkedArray:
    return _moments(texts, name, wanted, _PLAIN_DATE, date_of)


def _times(texts: pa.ChunkedArray, name: str, wanted: pa.DataType) -> pa.ChunkedArray:
    return _moments(texts, name, wanted, _PLAIN_TIME, time_of)


def _moments(
    texts: pa.ChunkedArray,
    name: str,
    wanted: pa.DataType,
    plain: str,
    read: Callable[[str, str], date | None],
) -> pa.ChunkedArray:
    if pc.all(pc.match_substring_regex(texts, plain), min_count=0).as_py():
        return _checked_cast(texts, texts, name, wanted)
    values = [None if text is None else read(text, name) for text in texts.to_pylist()]
    return pa.chunked_array([pa.array(values, wanted)])


def date_of(text: str, name: str) -> date:
    """A date; what follows it after a blank or a T does not count.

    >>> date_of("2024-3-1T10:00:00", "day")
    datetime.date(2024, 3, 1)
    """
    match = _DATE.fullmatch(text)
    try:
        return date(*(int(part or 1) for part in match.groups()))  # type: ignore[union-attr]
    except (AttributeError, ValueError):
        raise no_value(name, text, pa.date32()) from None


def time_of(text: str, name: str) -> datetime:
    """A time without a zone; Spark would cut what is finer than microseconds.

    >>> time_of("2024-03-01 9:05", "at")
    datetime.datetime(2024, 3, 1, 9, 5)
    """
    match = _TIME.fullmatch(text)
    try:
        *parts, fraction = match.groups()  # type: ignore[union-attr]
        year, month, day, hour, minute, second = (
            int(part or least) for part, least in zip(parts, (1, 1, 1, 0, 0, 0), strict=True)
        )
        micros = int((fraction or "").rstrip("0")[:6].ljust(6, "0"))
        if len((fraction or "").rstrip("0")) > _DIGITS_OF_SECONDS:
            raise ValueError
        return datetime(year, month, day, hour, minute, second, micros)
    except (AttributeError, ValueError):
        raise no_value(name, text, pa.timestamp("us")) from None
