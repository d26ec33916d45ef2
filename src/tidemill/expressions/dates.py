"""Functions of dates and times; times have no zone and are in UTC."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.types import is_numeric
from tidemill.expressions.casts import cast
from tidemill.expressions.intervals import MICROS, MONTHS_OF, unit_name
from tidemill.expressions.intervals import RULES as INTERVAL_RULES
from tidemill.expressions.time_formats import parsed, written
from tidemill.expressions.translate import Rule, Translator, constant_text, name_of_node, simple
from tidemill.expressions.typed import (
    BIGINT,
    DATE,
    DOUBLE,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    NotSupported,
    Typed,
    TypeMismatch,
    does_not_take,
)  # fmt: skip

_FIELDS: Final = {
    "YEAR": "year({0})", "YEAROFWEEK": "isoyear({0})", "QUARTER": "quarter({0})",
    "MONTH": "month({0})", "WEEK": "weekofyear({0})", "DAY": "day({0})",
    "DAYOFWEEK": "dayofweek({0}) + 1", "DOW": "dayofweek({0}) + 1",
    "DAYOFWEEK_ISO": "isodow({0})", "DOW_ISO": "isodow({0})", "DOY": "dayofyear({0})",
    "HOUR": "hour({0})", "MINUTE": "minute({0})",
}  # fmt: skip
_UNITS: Final = frozenset(
    {
        "YEAR",
        "QUARTER",
        "MONTH",
        "WEEK",
        "DAY",
        "HOUR",
        "MINUTE",
        "SECOND",
        "MILLISECOND",
        "MICROSECOND",
    }
)
_DATE_UNITS: Final = {
    "YEAR": "year", "YYYY": "year", "YY": "year", "QUARTER": "quarter", "MONTH": "month",
    "MM": "month", "MON": "month", "WEEK": "week",
}  # fmt: skip
_WEEKDAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_WHOLE_DAYS: Final = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")


def _field(name: str) -> Rule:
    def rule(parts: Translator, node: exp.Expr) -> Typed:
        value = parts.arg(node.this, DATE, node).sql
        return Typed(f"CAST({_FIELDS[name].format(value)} AS INT)", INT, node)

    return rule


def _extract(parts: Translator, node: exp.Expr) -> Typed:
    name = unit_name(node.this)
    value = parts.of(node.expression)
    if value.type not in (DATE, TIMESTAMP) or name not in (*_FIELDS, "SECOND"):
        raise does_not_take(f"EXTRACT({name})", [value.type], node)
    time = cast(value, TIMESTAMP).sql
    if name != "SECOND":
        return Typed(f"CAST({_FIELDS[name].format(time)} AS INT)", INT, node)
    return Typed(f"spark_seconds({time})", pa.decimal128(8, 6), node)


def _to_date(parts: Translator, node: exp.Expr) -> Typed:
    layout = node.args.get("format")
    if layout is None:
        return Typed(parts.arg(node.this, DATE, node).sql, DATE, node)
    if parts.of(node.this).type != STRING:
        raise does_not_take("TO_DATE", [parts.of(node.this).type, STRING], node)
    return Typed(f"CAST({parsed(parts.of(node.this).sql, layout)} AS DATE)", DATE, node)


def _to_time(parts: Translator, node: exp.Expr) -> Typed:
    found = parts.of(node.this)
    if found.type != STRING or node.args.get("format") is None:
        raise does_not_take(name_of_node(node), [found.type], node)
    return Typed(parsed(found.sql, node.args["format"]), TIMESTAMP, node)


def _as_time(parts: Translator, node: exp.Expr) -> Typed:
    return Typed(parts.arg(node.this, TIMESTAMP, node).sql, TIMESTAMP, node)


def _formatted(parts: Translator, node: exp.Expr) -> Typed:
    time = parts.arg(node.this, TIMESTAMP, node).sql
    return Typed(written(time, node.args["format"]), STRING, node)


def _from_unix(parts: Translator, node: exp.Expr) -> Typed:
    seconds = parts.arg(node.this, BIGINT, node).sql
    return Typed(written(f"make_timestamp({seconds} * 1000000)", node.args["format"]), STRING, node)


def _to_unix(by: int) -> Rule:
    def rule(parts: Translator, node: exp.Expr) -> Typed:
        time = _exactly(TIMESTAMP, parts, node).sql
        return Typed(f"spark_floored(epoch_us({time}), {by})", BIGINT, node)

    return rule


def _unix_timestamp(parts: Translator, node: exp.Expr) -> Typed:
    """Unlike UNIX_SECONDS, this one cuts the fraction of times before 1970 off."""
    found = parts.of(node.this)
    if found.type not in (DATE, TIMESTAMP):
        raise does_not_take(name_of_node(node), [found.type], node)
    return Typed(f"(epoch_us({cast(found, TIMESTAMP).sql}) // 1000000)", BIGINT, node)


def _unix_date(parts: Translator, node: exp.Expr) -> Typed:
    date = _exactly(DATE, parts, node).sql
    return Typed(f"CAST({date} - DATE '1970-01-01' AS INT)", INT, node)


def _exactly(kind: pa.DataType, parts: Translator, node: exp.Expr) -> Typed:
    found = parts.of(node.this)
    if found.type not in (kind, NULL):
        raise does_not_take(name_of_node(node), [found.type], node)
    return cast(found, kind)


def _clock(name: str) -> Rule:
    """Of a text, Spark would take a time without a date as one of today."""

    def rule(parts: Translator, node: exp.Expr) -> Typed:
        found = parts.of(node.this)
        if found.type == STRING:
            raise does_not_take(name.upper(), [found.type], node)
        return Typed(f"CAST({name}({parts.arg(node.this, TIMESTAMP, node).sql}) AS INT)", INT, node)

    return rule


def _truncated(parts: Translator, node: exp.Expr) -> Typed:
    unit = node.args["unit"]
    name = unit_name(unit)
    if not isinstance(unit, (exp.Var, exp.Literal)) or name not in _UNITS:
        raise TypeMismatch(
            "DATE_TRUNC takes the name of a unit", node, "write DATE_TRUNC('HOUR', t)"
        )
    time = parts.arg(node.this, TIMESTAMP, node).sql
    return Typed(f"CAST(date_trunc('{name.lower()}', {time}) AS TIMESTAMP)", TIMESTAMP, node)


def _truncated_date(parts: Translator, node: exp.Expr) -> Typed:
    unit = _DATE_UNITS.get(constant_text(node.args["unit"], "the unit").upper())
    if unit is None:
        raise TypeMismatch(
            "TRUNC takes YEAR, QUARTER, MONTH or WEEK", node, "write TRUNC(d, 'MONTH')"
        )
    date = parts.arg(node.this, DATE, node).sql
    return Typed(f"CAST(date_trunc('{unit}', {date}) AS DATE)", DATE, node)


def _added(parts: Translator, node: exp.Expr) -> Typed:
    """DATE_ADD and DATE_SUB: days to a date."""
    if unit_name(node.args.get("unit")) not in ("", "DAY"):
        raise NotSupported("", node)
    date, days = parts.arg(node.this, DATE, node).sql, parts.arg(node.expression, INT, node).sql
    return Typed(f"({date} + {days})", DATE, node)


def _months_added(parts: Translator, node: exp.Expr) -> Typed:
    date, months = parts.arg(node.this, DATE, node).sql, parts.arg(node.expression, INT, node).sql
    return Typed(f"CAST({date} + to_months({months}) AS DATE)", DATE, node)


def _time_added(parts: Translator, node: exp.Expr) -> Typed:
    unit, time = unit_name(node.args.get("unit")), parts.arg(node.this, TIMESTAMP, node).sql
    count = parts.arg(node.expression, BIGINT, node).sql
    if unit in MONTHS_OF:
        moved = f"{time} + to_months(CAST({count} * {MONTHS_OF[unit]} AS INT))"
        return Typed(f"({moved})", TIMESTAMP, node)
    if unit not in MICROS:
        raise TypeMismatch(f"`{unit}` is no unit of time", node, "write DAY, HOUR, MONTH, ...")
    return Typed(f"({time} + to_microseconds({count} * {MICROS[unit]}))", TIMESTAMP, node)


def _date_difference(parts: Translator, node: exp.Expr) -> Typed:
    if node.args.get("unit") is not None:  # the parser makes dates of both, which Spark does not
        sides = [
            side.this if isinstance(side, exp.TsOrDsToDate) else side
            for side in (node.this, node.expression)
        ]
        return _difference(parts, sides[0], sides[1], node)
    one, other = (parts.arg(side, DATE, node).sql for side in (node.this, node.expression))
    return Typed(f"CAST({one} - {other} AS INT)", INT, node)


def _time_difference(parts: Translator, node: exp.Expr) -> Typed:
    return _difference(parts, node.this, node.expression, node)


def _difference(parts: Translator, end: exp.Expr, start: exp.Expr, node: exp.Expr) -> Typed:
    unit = unit_name(node.args.get("unit"))
    after, before = (parts.arg(each, TIMESTAMP, node).sql for each in (end, start))
    if unit in MONTHS_OF:
        months = f"spark_months_until({before}, {after})"
        return Typed(f"({months} // {MONTHS_OF[unit]})", BIGINT, node)
    if unit not in MICROS:
        raise TypeMismatch(f"`{unit}` is no unit of time", node, "write DAY, HOUR, MONTH, ...")
    return Typed(f"((epoch_us({after}) - epoch_us({before})) // {MICROS[unit]})", BIGINT, node)


def _months_between(parts: Translator, node: exp.Expr) -> Typed:
    one, other = (parts.arg(each, TIMESTAMP, node).sql for each in (node.this, node.expression))
    rounds = node.args.get("roundoff")
    found = f"spark_months_apart({one}, {other})"
    if isinstance(rounds, exp.Boolean) and not rounds.this:
        return Typed(found, DOUBLE, node)
    if rounds is not None and not isinstance(rounds, exp.Boolean):
        raise TypeMismatch("MONTHS_BETWEEN takes TRUE or FALSE", node, "write TRUE or FALSE")
    return Typed(f"spark_round({found}, 8)", DOUBLE, node)


def _next_day(parts: Translator, node: exp.Expr) -> Typed:
    name = constant_text(node.expression, "the day of the week").strip().upper()
    known = [
        k
        for k, short in enumerate(_WEEKDAYS, 1)
        if name in (short, _WHOLE_DAYS[k - 1][:3], _WHOLE_DAYS[k - 1])
    ]
    if not known:
        raise TypeMismatch(f"`{name}` is no day of the week", node, "write 'MON', 'TUE', ...")
    date = parts.arg(node.this, DATE, node).sql
    return Typed(f"spark_next_day({date}, {known[0]})", DATE, node)


def _time_of_parts(parts: Translator, node: exp.Expr) -> Typed:
    names = ("year", "month", "day", "hour", "min", "sec")
    if any(node.args.get(name) is None for name in names) or node.args.get("zone") is not None:
        raise NotSupported("", node)
    whole = [parts.arg(node.args[name], INT, node).sql for name in names[:-1]]
    found = parts.of(node.args["sec"])
    if not is_numeric(found.type):
        raise does_not_take("MAKE_TIMESTAMP", [found.type], node)
    seconds = cast(found, pa.decimal128(16, 6)).sql
    return Typed(f"spark_make_timestamp({', '.join(whole)}, {seconds})", TIMESTAMP, node)


def _part(parts: Translator, node: exp.Expr) -> Typed:
    """DATE_PART('year', ts) is EXTRACT(YEAR FROM ts)."""
    if len(node.expressions) != 2:
        raise does_not_take("DATE_PART", [parts.of(each).type for each in node.expressions], node)
    unit = exp.var(constant_text(node.expressions[0], "the field").upper())
    return replace(
        parts.of(exp.Extract(this=unit, expression=node.expressions[1].copy())), node=node
    )


NAMED: dict[str, Rule] = {"date_part": _part, "datepart": _part}

RULES: dict[type[exp.Expr], Rule] = {
    exp.Year: _field("YEAR"), exp.Month: _field("MONTH"), exp.Day: _field("DAY"),
    exp.DayOfMonth: _field("DAY"), exp.Quarter: _field("QUARTER"), exp.DayOfWeek: _field("DOW"),
    exp.DayOfYear: _field("DOY"), exp.WeekOfYear: _field("WEEK"),
    exp.Hour: _clock("hour"), exp.Minute: _clock("minute"), exp.Second: _clock("second"),
    exp.Extract: _extract, exp.TsOrDsToDate: _to_date, exp.TimeStrToTime: _as_time,
    exp.StrToTime: _to_time, exp.TimeToStr: _formatted, exp.UnixToStr: _from_unix,
    exp.StrToUnix: _unix_timestamp, exp.UnixSeconds: _to_unix(1000000),
    exp.UnixMillis: _to_unix(1000), exp.UnixMicros: _to_unix(1),
    exp.UnixDate: _unix_date,
    exp.DateFromUnixDate: simple("(DATE '1970-01-01' + {0})", [INT], DATE),
    exp.LastDay: simple("last_day({0})", [DATE], DATE),
    exp.Monthname: simple("strftime({0}, '%b')", [DATE], STRING),
    exp.Dayname: simple("strftime({0}, '%a')", [DATE], STRING),
    exp.TimestampTrunc: _truncated, exp.DateTrunc: _truncated_date,
    exp.TsOrDsAdd: _added, exp.AddMonths: _months_added, exp.TimestampAdd: _time_added,
    exp.DateDiff: _date_difference, exp.TimestampDiff: _time_difference,
    exp.MonthsBetween: _months_between, exp.NextDay: _next_day,
    exp.TimestampFromParts: _time_of_parts, **INTERVAL_RULES,
}  # fmt: skip
