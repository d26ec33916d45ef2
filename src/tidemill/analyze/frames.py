"""Frames of functions over rows: which rows around a row they look at, and by what distance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.over_rows import RowFrame
from tidemill.analyze.limits import MOST_DIGITS
from tidemill.errors import PlanError, UnsupportedError
from tidemill.sql import UNIT_MICROS, error_at

_USUAL: Final = RowFrame()
_WHOLE: Final = RowFrame(end=None)
_SIDES: Final = ("start", "end")
_LONGEST: Final = 10**MOST_DIGITS

INTERVALS, NUMBERS = "intervals", "numbers"
"""What distances are said in."""


def read_frame(window: exp.Window) -> RowFrame:
    """The frame that a window says, or the one that it has by default."""
    spec = window.args.get("spec")
    if spec is None:
        return _USUAL if window.args.get("order") else _WHOLE
    if spec.args.get("exclude"):
        help = "leave EXCLUDE out"
        raise error_at(UnsupportedError, "EXCLUDE in a frame is not supported", window, help)
    unit = str(spec.args["kind"]).upper()
    start = _bound(spec, "start", unit, window)
    end = _bound(spec, "end", unit, window) if spec.args.get("end") else 0
    if start is not None and end is not None and start > end:
        help = "write the earlier bound first: BETWEEN 1 PRECEDING AND CURRENT ROW"
        raise error_at(PlanError, "the frame ends before it begins", window, help)
    return RowFrame(unit, start, end)


def distances_of(window: exp.Window) -> str:
    """Whether the distances of a frame are intervals, numbers or both."""
    spec = window.args.get("spec")
    return "" if spec is None else " ".join(sorted(set(_distances(spec))))


def _distances(spec: exp.Expr) -> Iterator[str]:
    for part in _SIDES:
        value = spec.args.get(part)
        if isinstance(value, exp.Interval):
            yield INTERVALS
        elif isinstance(value, exp.Literal):
            yield NUMBERS


def fitting(frame: RowFrame, distances: str, kind: pa.DataType, node: exp.Expr) -> RowFrame:
    """A frame by the value of a sort key of this type, in the units of that type.

    Times are an interval apart, dates a number of days, numbers a number.
    """
    if pa.types.is_date(kind):
        return _in_days(frame, distances, node)
    wanted = INTERVALS if pa.types.is_timestamp(kind) else NUMBERS
    if distances != wanted:
        help = "write for example INTERVAL '5' MINUTES" if wanted == INTERVALS else "write a number"
        message = f"the sort key is a {'time' if wanted == INTERVALS else 'number'}"
        raise error_at(PlanError, f"{message}: RANGE takes {wanted}", node, help)
    whole = not pa.types.is_floating(kind)
    if whole and any(isinstance(bound, float) for bound in (frame.start, frame.end)):
        help = "write a whole number, or CAST the sort key to DOUBLE"
        raise error_at(PlanError, "whole numbers are no fraction apart", node, help)
    return frame


def _in_days(frame: RowFrame, distances: str, node: exp.Expr) -> RowFrame:
    day = UNIT_MICROS["DAY"] if distances == INTERVALS else 1
    bounds = (frame.start, frame.end)
    mixed = distances not in (INTERVALS, NUMBERS)
    if mixed or any(bound is not None and bound % day for bound in bounds):
        help = "write for example INTERVAL '2' DAYS"
        raise error_at(PlanError, "dates are whole days apart", node, help)
    start, end = (None if bound is None else int(bound // day) for bound in bounds)
    return RowFrame(frame.unit, start, end)


def _bound(spec: exp.Expr, part: str, unit: str, window: exp.Window) -> int | float | None:
    value, side = spec.args[part], str(spec.args.get(f"{part}_side") or "").upper()
    text = value if isinstance(value, str) else value.name
    if text.upper() == "CURRENT ROW":
        return 0
    if text.upper() == "UNBOUNDED":
        if side != ("PRECEDING" if part == "start" else "FOLLOWING"):
            help = "a frame begins with UNBOUNDED PRECEDING and ends with UNBOUNDED FOLLOWING"
            raise error_at(PlanError, "the frame has no rows", window, help)
        return None
    distance = _distance(value, unit, window)
    if distance >= _LONGEST:
        raise error_at(PlanError, "the distance is too large", window, "write UNBOUNDED")
    return -distance if side == "PRECEDING" else distance


def _distance(value: exp.Expr, unit: str, window: exp.Window) -> int | float:
    if isinstance(value, exp.Interval) and unit == "RANGE":
        return _micros(value)
    text = value.name if isinstance(value, exp.Literal) and not value.is_string else ""
    if text.isdecimal():
        return int(text)
    if unit != "RANGE" or not text:
        help = "write for example ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"
        raise error_at(PlanError, f"{unit} takes a number that is not negative", window, help)
    return float(text)


def _micros(value: exp.Interval) -> int:
    unit = str(value.args.get("unit") or "").upper().removesuffix("S")
    number = value.this.name if value.this is not None else ""
    if unit not in UNIT_MICROS or not number.isdecimal():
        help = "write for example INTERVAL '5' MINUTES; months have no fixed length"
        raise error_at(UnsupportedError, "a frame takes an interval of fixed length", value, help)
    return int(number) * UNIT_MICROS[unit]
