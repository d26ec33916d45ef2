"""Dates and times with intervals, and the intervals between them."""

from __future__ import annotations

import re
from typing import Final

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.types import is_numeric
from tidemill.expressions.casts import cast
from tidemill.expressions.translate import Rule, Translator, name_of_node
from tidemill.expressions.typed import (
    DATE,
    DAYS,
    INT,
    INTERVALS,
    MONTHS,
    TIME,
    TIMESTAMP,
    Typed,
    TypeMismatch,
    does_not_take,
)  # fmt: skip

MICROS: Final = {
    "MICROSECOND": 1, "MILLISECOND": 1000, "SECOND": 10**6, "MINUTE": 60 * 10**6,
    "HOUR": 3600 * 10**6, "DAY": 86400 * 10**6, "WEEK": 7 * 86400 * 10**6,
}  # fmt: skip
MONTHS_OF: Final = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_SPANS: Final = {
    ("YEAR", "MONTH"): r"([+-])?(\d+)-(\d{1,2})",
    ("DAY", "HOUR"): r"([+-])?(\d+) (\d{1,2})",
    ("DAY", "MINUTE"): r"([+-])?(\d+) (\d{1,2}):(\d{1,2})",
    ("DAY", "SECOND"): r"([+-])?(\d+) (\d{1,2}):(\d{1,2}):(\d{1,2}(?:\.\d{1,6})?)",
    ("HOUR", "MINUTE"): r"([+-])?(\d+):(\d{1,2})",
    ("HOUR", "SECOND"): r"([+-])?(\d+):(\d{1,2}):(\d{1,2}(?:\.\d{1,6})?)",
    ("MINUTE", "SECOND"): r"([+-])?(\d+):(\d{1,2}(?:\.\d{1,6})?)",
}
_FIELDS: Final = ("DAY", "HOUR", "MINUTE", "SECOND")


def unit_name(node: exp.Expr | None) -> str:
    """The unit of an interval or a function in the singular.

    >>> unit_name(exp.var("hours"))
    'HOUR'
    """
    name = "" if node is None else node.name.upper()
    known = (*MICROS, *MONTHS_OF)
    return name[:-1] if name.endswith("S") and name[:-1] in known else name


def _interval(_: Translator, node: exp.Expr) -> Typed:
    value, unit = node.this, node.args.get("unit")
    if not isinstance(value, exp.Literal):
        raise TypeMismatch("an interval takes a constant", node, "write `INTERVAL 1 DAY * n`")
    if isinstance(unit, exp.IntervalSpan):
        return _span(value.name, unit, node)
    name = unit_name(unit)
    if name in ("MONTH", "YEAR") and re.fullmatch(r"\s*[+-]?\d+\s*", value.name):
        return Typed(f"to_months({int(value.name) * MONTHS_OF[name]})", MONTHS, node)
    if name in MICROS and re.fullmatch(r"\s*[+-]?\d+(\.\d+)?\s*", value.name):
        if "." in value.name and name != "SECOND":
            raise TypeMismatch("only seconds have a fraction", node, "write it in a smaller unit")
        micros = (
            round(float(value.name) * 10**6) if name == "SECOND" else int(value.name) * MICROS[name]
        )
        return Typed(_micros(micros), DAYS if name in ("DAY", "WEEK") else TIME, node)
    raise TypeMismatch(f"`{node.sql('spark')}` is no interval", node, "write INTERVAL 5 MINUTES")


def _span(text: str, unit: exp.IntervalSpan, node: exp.Expr) -> Typed:
    ends = unit.this.name.upper(), unit.expression.name.upper()
    found = re.fullmatch(_SPANS.get(ends, "(?!)"), text.strip())
    if found is None:
        raise TypeMismatch(
            f"`{text}` is no interval", node, "write INTERVAL '1 02:03:04' DAY TO SECOND"
        )
    sign = -1 if found[1] == "-" else 1
    if ends == ("YEAR", "MONTH"):
        return Typed(f"to_months({sign * (int(found[2]) * 12 + int(found[3]))})", MONTHS, node)
    fields = _FIELDS[_FIELDS.index(ends[0]) :]
    parts = [
        round(float(part) * MICROS[name])
        for part, name in zip(found.groups()[1:], fields, strict=False)
    ]
    return Typed(_micros(sign * sum(parts)), TIME, node)


def _micros(count: int) -> str:
    return f"to_microseconds({count})"


def time_sum(left: Typed, right: Typed, node: exp.Expr) -> Typed:
    """A sum or a difference in which there is a date, a time or an interval."""
    minus = isinstance(node, exp.Sub)
    if not minus and (left.type in INTERVALS or is_numeric(left.type)):
        left, right = right, left
    sign = "-" if minus else "+"
    made = _moved(left, right, sign) or _between(left, right, minus)
    if made is None:
        raise does_not_take(name_of_node(node), [left.type, right.type], node)
    return Typed(made[0], made[1], node)


def _moved(value: Typed, by: Typed, sign: str) -> tuple[str, pa.DataType] | None:
    """A date, a time or an interval, moved by an interval or a number of days."""
    sql = f"({value.sql} {sign} {by.sql})"
    if value.type == TIMESTAMP and by.type in INTERVALS:
        return sql, TIMESTAMP
    if value.type == DATE and by.type in (MONTHS, DAYS):
        return f"CAST({sql} AS DATE)", DATE
    if value.type == DATE and by.type == TIME:
        return f"(CAST({value.sql} AS TIMESTAMP) {sign} {by.sql})", TIMESTAMP
    if value.type == DATE and by.type in (pa.int8(), pa.int16(), INT):
        return f"({value.sql} {sign} {cast(by, INT).sql})", DATE
    if value.type in INTERVALS and by.type in INTERVALS:
        both = {value.type, by.type}
        if MONTHS not in both or both == {MONTHS}:
            return sql, value.type if len(both) == 1 else TIME
    return None


def _between(left: Typed, right: Typed, minus: bool) -> tuple[str, pa.DataType] | None:
    if not minus or not {left.type, right.type} <= {DATE, TIMESTAMP}:
        return None
    if left.type == right.type == DATE:
        return f"to_days(CAST({left.sql} - {right.sql} AS INT))", DAYS
    one, other = cast(left, TIMESTAMP).sql, cast(right, TIMESTAMP).sql
    return f"to_microseconds(epoch_us({one}) - epoch_us({other}))", TIME


def interval_product(left: Typed, right: Typed, node: exp.Expr) -> Typed:
    """An interval, several times."""
    if right.type in INTERVALS:
        left, right = right, left
    if not pa.types.is_integer(right.type) or left.type == MONTHS:
        raise does_not_take("*", [left.type, right.type], node)
    sql = f"to_microseconds(epoch_us({left.sql}) * CAST({right.sql} AS BIGINT))"
    return Typed(sql, TIME, node)


RULES: dict[type[exp.Expr], Rule] = {exp.Interval: _interval}
