"""Functions over rows in SQL: OVER."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import OverCall, OverRows, RowFrame, Scalar, column
from tidemill.algebra.over_rows import PICKS, RANKS, SHIFTS
from tidemill.compose.sql.calls import spoken_call
from tidemill.physical.operators.over_rows import OverRowsExec

_PLAIN = {
    "ROW_NUMBER": exp.RowNumber,
    "FIRST_VALUE": exp.FirstValue,
    "LAST_VALUE": exp.LastValue,
}


Said = Callable[[Scalar], exp.Expr]
"""How a column is said."""


def over_call(plan: OverRows | OverRowsExec, call: OverCall, say: Said) -> exp.Expr:
    """One function with its window."""
    schema = plan.child.schema

    def said(name: str) -> exp.Expr:
        return say(column(name, schema[name]))

    order = [
        exp.Ordered(this=said(key.column), desc=key.descending or None, nulls_first=key.nulls_first)
        for key in plan.order
    ]
    kind = schema[plan.order[0].column] if len(plan.order) == 1 else None
    return exp.Window(
        this=_function(call, [said(name) for name in call.arguments]),
        partition_by=[said(name) for name in plan.partition_by],
        order=exp.Order(expressions=order) if order else None,
        spec=None if call.function in (*RANKS, *SHIFTS) else _spec(call.frame, kind),
        over="OVER",
    )


def _function(call: OverCall, arguments: list[exp.Expr]) -> exp.Expr:
    if call.aggregate is not None:
        return spoken_call(call.aggregate, arguments[0] if arguments else None)
    options = [exp.Literal.number(option) for option in call.options]
    parts = [*arguments[:1], *options, *arguments[1:]]
    if call.function in PICKS and call.function in _PLAIN:
        found: exp.Expr = _PLAIN[call.function](this=parts[0])
    else:
        found = exp.Anonymous(this=call.function, expressions=parts)
    return exp.IgnoreNulls(this=found) if call.ignores_nulls else found


def _spec(frame: RowFrame, kind: pa.DataType | None) -> exp.WindowSpec:
    start, start_side = _bound(frame.start, frame.unit, kind, "PRECEDING")
    end, end_side = _bound(frame.end, frame.unit, kind, "FOLLOWING")
    return exp.WindowSpec(
        kind=frame.unit, start=start, start_side=start_side, end=end, end_side=end_side
    )


def _bound(
    bound: int | float | None, unit: str, kind: pa.DataType | None, side: str
) -> tuple[str | exp.Expr, str | None]:
    if bound is None:
        return "UNBOUNDED", side
    if bound == 0:
        return "CURRENT ROW", None
    number = exp.Literal.number(f"{abs(bound)}")
    value: exp.Expr = number
    if unit == "RANGE" and kind is not None and pa.types.is_temporal(kind):
        name = "DAY" if pa.types.is_date(kind) else "MICROSECOND"
        value = exp.Interval(this=exp.Literal.string(f"{abs(bound)}"), unit=exp.var(name))
    return value, "PRECEDING" if bound < 0 else "FOLLOWING"
