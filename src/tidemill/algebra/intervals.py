"""Between which numbers the values of expressions and columns lie."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from tidemill.algebra.nodes import (
    CountWindow,
    Filter,
    Project,
    SessionWindow,
    TimeWindow,
)
from tidemill.algebra.plan import Plan
from tidemill.algebra.promises import Range
from tidemill.algebra.sets import (
    Union,
)


@dataclass(frozen=True)
class Interval:
    """All values that are not NULL lie in it, both ends included."""

    low: float = -math.inf
    high: float = math.inf

    @property
    def is_known(self) -> bool:
        """Whether both ends are."""
        return self.low > -math.inf and self.high < math.inf

    def __or__(self, other: Interval) -> Interval:
        return Interval(min(self.low, other.low), max(self.high, other.high))


Columns = Callable[[str], Interval | None]
"""The interval of a column, by name; None if it is always NULL."""


def interval_of(node: exp.Expr, columns: Columns) -> Interval | None:
    """Between which numbers the values of an expression lie; None if it is always NULL.

    >>> from sqlglot import parse_one
    >>> interval_of(parse_one("GREATEST(2 * v, 1)"), lambda name: Interval(0, 5))
    Interval(low=1.0, high=10.0)
    """
    if isinstance(node, exp.Column):
        return columns(node.name)
    if isinstance(node, exp.Null):
        return None
    if (held := Range.of(node)) is not None:
        return Interval(held.low, held.high)
    if isinstance(node, exp.Literal) and not node.is_string:
        return Interval(float(node.name), float(node.name))
    if isinstance(node, exp.Paren | exp.Cast):
        return interval_of(node.this, columns)
    parts = [interval_of(part, columns) for part in node.iter_expressions()]
    return _combined(node, parts)


def _combined(node: exp.Expr, parts: list[Interval | None]) -> Interval | None:
    known = [part for part in parts if part is not None]
    if isinstance(node, exp.Coalesce | exp.Greatest | exp.Least):
        return _chosen(node, known)
    if isinstance(node, exp.Neg | exp.Add | exp.Sub | exp.Mul | exp.Div):
        return _computed(node, known) if len(known) == len(parts) else None
    return Interval()


def _chosen(node: exp.Expr, parts: list[Interval]) -> Interval | None:
    """One of the values, NULLs left out; constants are never left out."""
    if not parts:
        return None
    low, high = min(part.low for part in parts), max(part.high for part in parts)
    if isinstance(node, exp.Greatest):
        low = max([low, *(part.low for part in parts if part.low == part.high)])
    if isinstance(node, exp.Least):
        high = min([high, *(part.high for part in parts if part.low == part.high)])
    return Interval(low, high)


def _computed(node: exp.Expr, parts: list[Interval]) -> Interval:
    if isinstance(node, exp.Neg):
        return Interval(-parts[0].high, -parts[0].low)
    one, other = parts
    if isinstance(node, exp.Add):
        return Interval(one.low + other.low, one.high + other.high)
    if isinstance(node, exp.Sub):
        return Interval(one.low - other.high, one.high - other.low)
    if isinstance(node, exp.Div):
        return _divided(one, other)
    ends = [_product(a, b) for a in (one.low, one.high) for b in (other.low, other.high)]
    return Interval(min(ends), max(ends))


def _divided(one: Interval, other: Interval) -> Interval:
    if other.low != other.high or other.low <= 0:
        return Interval()
    return Interval(one.low / other.low, one.high / other.low)


def _product(a: float, b: float) -> float:
    return 0.0 if a == 0 or b == 0 else a * b


def interval_in(plan: Plan, name: str) -> Interval | None:
    """Between which numbers the values of a column lie; None if it is always NULL."""
    match plan:
        case Project():
            items = dict(plan.items)
            return interval_of(items[name].node, lambda each: interval_in(plan.child, each))
        case Filter() | TimeWindow() | CountWindow() | SessionWindow():
            return interval_in(plan.child, name)
        case Union():
            sides = [interval_in(side, name) for side in plan.children]
            known = [side for side in sides if side is not None]
            return known[0] | known[-1] if known else None
    return Interval()
