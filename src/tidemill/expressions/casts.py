"""CAST, from every type to every other, as Spark does it with ANSI rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pyarrow as pa

from tidemill.algebra.types import is_numeric, name_of
from tidemill.expressions.duckdb_sql import duckdb_type
from tidemill.expressions.typed import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INTERVALS,
    NULL,
    STRING,
    TIMESTAMP,
    Typed,
    TypeMismatch,
    shown,
)  # fmt: skip

_SPACE: Final = r"[\x00-\x20]*"
_WHOLE_NUMBER: Final = rf"^{_SPACE}[+-]?[0-9]+{_SPACE}$"
_NUMBER: Final = rf"^{_SPACE}[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
_DAY: Final = r"[0-9]{4,7}(-[0-9]{1,2}(-[0-9]{1,2}"
_CLOCK: Final = r"([01]?[0-9]|2[0-3])(:[0-5]?[0-9](:[0-5]?[0-9](\.[0-9]{0,9})?)?)?"
_SHAPES: Final = {
    BOOLEAN: rf"(?i)^{_SPACE}(true|t|yes|y|1|false|f|no|n|0){_SPACE}$",
    DATE: rf"^{_SPACE}{_DAY}([ T].*)?)?)?{_SPACE}$",
    TIMESTAMP: rf"^{_SPACE}{_DAY}([ T]{_CLOCK}(Z|[+-][0-9]{{2}}:[0-9]{{2}})?)?)?)?{_SPACE}$",
}


def cast(value: Typed, to: pa.DataType, *, safe: bool = False) -> Typed:
    """The value in another type; if `safe`, NULL where that is not possible.

    >>> from sqlglot import exp
    >>> cast(Typed("x", DOUBLE, exp.null()), pa.int32()).sql
    'CAST(trunc(x) AS INT)'
    """
    if value.type == to or (value.type in INTERVALS and to in INTERVALS):
        return value
    make = _maker(value.type, to)
    if make is None:
        message = f"cannot cast {shown(value.type)} to {shown(to)}"
        raise TypeMismatch(message, value.node, "cast it to another type first")
    return value.become(make(value.sql, to, safe), to)


def is_free(one: pa.DataType, other: pa.DataType) -> bool:
    """Whether a function that takes the other type also takes this one, as Spark has it.

    >>> is_free(pa.int32(), STRING), is_free(STRING, pa.int32())
    (True, False)
    """
    if one in (NULL, other):
        return True
    if is_numeric(one):
        return other in (STRING, DOUBLE) or (is_numeric(other) and _is_narrower(one, other))
    if one in (DATE, TIMESTAMP):
        return other in (DATE, TIMESTAMP, STRING)
    return (one, other) in (
        (STRING, DATE),
        (STRING, TIMESTAMP),
        (STRING, BINARY),
        (BOOLEAN, STRING),
    )


def _is_narrower(one: pa.DataType, other: pa.DataType) -> bool:
    if pa.types.is_integer(one):
        return pa.types.is_decimal(other) or bool(one.bit_width < other.bit_width)
    return bool(one == FLOAT and other == DOUBLE)


Maker = Callable[[str, pa.DataType, bool], str]


def _maker(one: pa.DataType, to: pa.DataType) -> Maker | None:
    if one == NULL:
        return _plain
    if pa.types.is_list(one) and pa.types.is_list(to):
        return _elements(one)
    if pa.types.is_nested(one) or pa.types.is_nested(to) or pa.types.is_duration(one):
        return None
    if one == STRING:
        return _from_text(to)
    if one in (DATE, TIMESTAMP):
        return _plain if to in (DATE, TIMESTAMP, STRING) else None
    if one == BINARY:
        return _decoded if to == STRING else None
    if to in (DATE, TIMESTAMP, BINARY) or pa.types.is_duration(to):
        return None
    return _from_number(one, to)


def _from_number(one: pa.DataType, to: pa.DataType) -> Maker:
    """From a number or a truth value."""
    if pa.types.is_floating(one):
        if to == STRING:
            return lambda sql, _, __: f"spark_text({sql})"
        if pa.types.is_decimal(to):  # by way of its digits, as Java does
            return lambda sql, to, safe: _plain(f"spark_number_text({sql})", to, safe)
        if to == FLOAT:
            return lambda sql, _, __: f"spark_float({sql})"
    if pa.types.is_integer(to) and not pa.types.is_integer(one) and one != BOOLEAN:
        return lambda sql, to, safe: _plain(f"trunc({sql})", to, safe)
    if to == BOOLEAN:
        return lambda sql, _, __: f"({sql} <> 0)"
    if one == BOOLEAN and pa.types.is_decimal(to):
        return lambda sql, to, safe: _plain(f"CAST({sql} AS INT)", to, safe)
    return _plain


def _from_text(to: pa.DataType) -> Maker | None:
    if to == BINARY:
        return lambda sql, _, __: f"encode({sql})"
    if pa.types.is_integer(to):
        return lambda sql, to, safe: _plain(_shaped(sql, _WHOLE_NUMBER, to, safe), to, safe)
    if pa.types.is_floating(to):
        return _floating
    if pa.types.is_decimal(to):
        shape = rf"{_NUMBER}{_SPACE}$"
        return lambda sql, to, safe: _plain(_shaped(sql, shape, to, safe), to, safe)
    if to == BOOLEAN:
        return lambda sql, to, safe: _plain(
            f"trim({_shaped(sql, _SHAPES[to], to, safe)})", to, safe
        )
    if to in (DATE, TIMESTAMP):
        macro = "spark_date_text" if to == DATE else "spark_time_text"
        return lambda sql, to, safe: _plain(
            f"{macro}({_shaped(sql, _SHAPES[to], to, safe)})", to, safe
        )
    return None


def _floating(sql: str, to: pa.DataType, safe: bool) -> str:
    named = r"(?i)[+-]?(nan|inf|infinity)"
    shape = rf"({_NUMBER}[dDfF]?{_SPACE}$)|(^{_SPACE}{named}{_SPACE}$)"
    digits = f"regexp_replace({_shaped(sql, shape, to, safe)}, '([0-9.])[dDfF]', '\\1')"
    wide = _plain(digits, DOUBLE, safe)
    return f"spark_float({wide})" if to == FLOAT else wide


def _shaped(sql: str, shape: str, to: pa.DataType, safe: bool) -> str:
    """The text, if it looks as Spark wants it: DuckDB is content with much more."""
    otherwise = "NULL" if safe else f"error('cannot cast a text to {name_of(to)}: ' || {sql})"
    fits = f"{sql} IS NULL OR regexp_matches({sql}, '{shape}')"
    return f"CASE WHEN {fits} THEN {sql} ELSE {otherwise} END"


def _elements(one: pa.DataType) -> Maker | None:
    def each(sql: str, to: pa.DataType, safe: bool) -> str:
        make = _maker(one.value_type, to.value_type)
        assert make is not None
        inner = make("spark_each", to.value_type, safe)
        return f"list_transform({sql}, lambda spark_each: {inner})"

    known = one.value_type == NULL or is_numeric(one.value_type)
    return each if known else None


def _plain(sql: str, to: pa.DataType, safe: bool) -> str:
    return f"{'TRY_CAST' if safe else 'CAST'}({sql} AS {duckdb_type(to)})"


def _decoded(sql: str, to: pa.DataType, safe: bool) -> str:
    return f"decode({sql})"
