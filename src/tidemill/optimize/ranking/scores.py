"""Scores that never fall when a row comes.

NULL counts as the least of all values, as it does for ORDER BY ... DESC. Sums and products of
doubles are rounded, but never out of order; functions for which this is not certain are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.intervals import Interval, interval_of
from tidemill.algebra.types import UnknownType, from_sql
from tidemill.expressions.functions import Functions

Intervals = Mapping[str, Interval]
"""Between which numbers the calls lie, by name."""


def rises(node: exp.Expr, calls: Intervals, functions: Functions) -> bool:
    """Whether an expression never falls when calls rise.

    >>> from sqlglot import parse_one
    >>> calls = {"a": Interval(0, 1), "b": Interval(0, 1)}
    >>> [rises(parse_one(text), calls, {}) for text in ("0.5 * a + b", "a * b", "a - b", "-a")]
    [True, True, False, False]
    >>> [rises(parse_one(text), calls, {}) for text in ("LEAST(a, b)", "LEAST(COALESCE(a, 0), 1)")]
    [False, True]
    """
    return _Scores(calls, functions).rises(node)


def stands_alone(node: exp.Expr, maxima: frozenset[str]) -> bool:
    """Whether the score of rows is the largest of the scores of each of them.

    Then no row needs another one. So it is for the largest value of a column, and for what rises
    with it alone.

    >>> from sqlglot import parse_one
    >>> tried = ("GREATEST(a, b)", "2 * COALESCE(a, 0)", "a + b", "3")
    >>> [stands_alone(parse_one(text), frozenset("ab")) for text in tried]
    [True, True, False, False]
    """
    if isinstance(node, exp.Column):
        return node.name in maxima
    parts = [part for part in node.iter_expressions() if not _is_constant(part)]
    if isinstance(node, exp.Greatest):
        return bool(parts) and all(stands_alone(part, maxima) for part in parts)
    simple = isinstance(node, (*_STEPS, exp.Coalesce, exp.Paren, exp.Cast, exp.Sqrt))
    return simple and len(parts) == 1 and stands_alone(parts[0], maxima)


def _is_constant(node: exp.Expr) -> bool:
    return node.find(exp.Column, exp.Anonymous) is None


class _Scores:
    def __init__(self, calls: Intervals, functions: Functions) -> None:
        self._calls = calls
        self._functions = functions

    def rises(self, node: exp.Expr) -> bool:
        if isinstance(node, exp.Column):
            return node.name in self._calls
        if _is_constant(node):
            return True
        for kinds, rule in _RULES:
            if isinstance(node, kinds):
                return rule(self, node)
        return False

    def all_rise(self, node: exp.Expr) -> bool:
        return all(self.rises(part) for part in node.iter_expressions())

    def inside(self, node: exp.Expr) -> bool:
        return self.rises(node.this)

    def difference(self, node: exp.Expr) -> bool:
        return self.rises(node.this) and _is_constant(node.expression)

    def product(self, node: exp.Expr) -> bool:
        # A constant may be multiplied with anything, others with what is not negative.
        parts = list(node.iter_expressions())
        tested = [p for p in parts if _is_constant(p)] or parts
        return self.all_rise(node) and all(self._low(part) >= 0 for part in tested)

    def quotient(self, node: exp.Expr) -> bool:
        constant = _is_constant(node.expression)
        return constant and self._low(node.expression) > 0 and self.rises(node.this)

    def root(self, node: exp.Expr) -> bool:
        return self.rises(node.this) and self._low(node.this) >= 0

    def least(self, node: exp.Expr) -> bool:
        # It leaves NULLs out, so it falls when the first value comes.
        return self.all_rise(node) and not any(map(self._may_be_null, node.iter_expressions()))

    def first_value(self, node: exp.Expr) -> bool:
        """COALESCE(a, 0): the constant must not be more than what comes."""
        others = node.expressions
        if len(others) != 1 or not _is_constant(others[0]) or not self.rises(node.this):
            return False
        constant = interval_of(others[0], self._interval)
        return constant is not None and constant.high <= self._low(node.this)

    def cast(self, node: exp.Expr) -> bool:
        try:
            target = from_sql(node.args["to"])
        except UnknownType:
            return False
        return target in (pa.float64(), pa.int64()) and self.rises(node.this)

    def call(self, node: exp.Expr) -> bool:
        function = self._functions.get(node.name.lower())
        return function is not None and function.monotone and self.all_rise(node)

    def _interval(self, name: str) -> Interval:
        return self._calls.get(name, Interval())

    def _low(self, node: exp.Expr) -> float:
        found = interval_of(node, self._interval)
        return Interval().low if found is None else found.low

    def _may_be_null(self, node: exp.Expr) -> bool:
        if isinstance(node, exp.Coalesce):
            return False  # with a constant, see `first_value`
        if isinstance(node, exp.Paren | exp.Cast):
            return self._may_be_null(node.this)
        if isinstance(node, (*_STEPS, exp.Least, exp.Greatest)):
            return any(map(self._may_be_null, node.iter_expressions()))
        return not isinstance(node, exp.Literal)


_STEPS: Final = (exp.Add, exp.Sub, exp.Mul, exp.Div)
_Test = Callable[[_Scores, exp.Expr], bool]
_RULES: Final[list[tuple[tuple[type[exp.Expr], ...], _Test]]] = [
    ((exp.Paren,), _Scores.inside),
    ((exp.Add, exp.Greatest), _Scores.all_rise),
    ((exp.Sub,), _Scores.difference),
    ((exp.Mul,), _Scores.product),
    ((exp.Div,), _Scores.quotient),
    ((exp.Sqrt,), _Scores.root),
    ((exp.Least,), _Scores.least),
    ((exp.Coalesce,), _Scores.first_value),
    ((exp.Cast,), _Scores.cast),
    ((exp.Anonymous,), _Scores.call),
]
