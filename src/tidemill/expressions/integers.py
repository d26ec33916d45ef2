"""Expressions over whole numbers, computed by NumPy.

A call of DuckDB takes a millisecond, however few rows there are. What most conditions of joins
are made of (sums, differences, comparisons of 64-bit integers) needs none: as long as no value
is NULL and nothing can overflow, NumPy gives the same result.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.scalar import Scalar
from tidemill.algebra.schema import Schema

_LIMIT = 2**63
_LARGEST_LITERAL = 2**31

Value = tuple[Any, int]
"""Numbers, and the largest that their absolute values can be; truth values have none."""
Values = Mapping[str, Value]
Step = Callable[[Values], Value]

_SUMS = {exp.Add: operator.add, exp.Sub: operator.sub}
_COMPARISONS = {
    exp.LT: operator.lt,
    exp.LTE: operator.le,
    exp.GT: operator.gt,
    exp.GTE: operator.ge,
    exp.EQ: operator.eq,
    exp.NEQ: operator.ne,
}
_JUNCTIONS = {exp.And: np.logical_and, exp.Or: np.logical_or}


class _Unknown(Exception):
    """The expression, or its values, are not for NumPy."""


class IntegerExpression:
    """An expression over columns of 64-bit integers; `make` tells which are.

    >>> near = exp.LT(this=exp.column("a"), expression=exp.Literal.number(3))
    >>> found = IntegerExpression.make(Scalar(near, pa.bool_()), Schema.of(a=pa.int64()))
    >>> found.run(pl.DataFrame({"a": [1, 5]})).to_list()
    [True, False]
    """

    def __init__(self, scalar: Scalar, schema: Schema) -> None:
        self._scalar = scalar
        self._schema = schema

    @staticmethod
    def make(scalar: Scalar, schema: Schema) -> IntegerExpression | None:
        """The expression, if NumPy can compute it; else None."""
        found = IntegerExpression(scalar, schema)
        try:
            yields = found._step[1]
        except _Unknown:
            return None
        return found if scalar.columns and scalar.type == yields else None

    def __getstate__(self) -> dict[str, Any]:
        return {"_scalar": self._scalar, "_schema": self._schema}

    def run(self, frame: pl.DataFrame) -> pl.Series | None:
        """The values for every row; None if these rows need more care."""
        values: dict[str, Value] = {}
        for name in self._scalar.columns:
            column = frame[name]
            if column.null_count():
                return None
            numbers = column.to_numpy()
            values[name] = numbers, max(abs(int(numbers.max())), abs(int(numbers.min())))
        try:
            return pl.Series(self._step[0](values)[0])
        except _Unknown:
            return None

    @cached_property
    def _step(self) -> tuple[Step, pa.DataType]:
        return _compiled(self._scalar.node, self._schema)


def _compiled(node: exp.Expr, schema: Schema) -> tuple[Step, pa.DataType]:
    match node:
        case exp.Paren():
            return _compiled(node.this, schema)
        case exp.Column() if node.name in schema and schema[node.name] == pa.int64():
            name = node.name
            return (lambda values: values[name]), pa.int64()
        case exp.Abs():
            return _absolute(_number(node.this, schema)), pa.int64()
        case exp.Add() | exp.Sub():
            return _sum(_SUMS[type(node)], *_numbers(node, schema)), pa.int64()
        case exp.Mul():
            return _product(*_numbers(node, schema)), pa.int64()
        case exp.Mod() if isinstance(node.expression, exp.Literal):
            return _remainder(*_numbers(node, schema)), pa.int64()
        case exp.LT() | exp.LTE() | exp.GT() | exp.GTE() | exp.EQ() | exp.NEQ():
            return _plain(_COMPARISONS[type(node)], *_numbers(node, schema)), pa.bool_()
        case exp.And() | exp.Or():
            parts = [_compiled(part, schema) for part in (node.this, node.expression)]
            if all(yields == pa.bool_() for _, yields in parts):
                return _plain(_JUNCTIONS[type(node)], *(step for step, _ in parts)), pa.bool_()
    raise _Unknown


def _numbers(node: exp.Expr, schema: Schema) -> tuple[Step, Step]:
    """Both sides, one of which reads a column: then it is 64 bits wide, and so is the result."""
    if not node.find(exp.Column):
        raise _Unknown
    return _number(node.this, schema), _number(node.expression, schema)


def _number(node: exp.Expr, schema: Schema) -> Step:
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit():
        constant = int(node.name)
        if constant >= _LARGEST_LITERAL:
            raise _Unknown
        return lambda values: (constant, constant)
    step, yields = _compiled(node, schema)
    if yields != pa.int64():
        raise _Unknown
    return step


def _absolute(step: Step) -> Step:
    def run(values: Values) -> Value:
        numbers, most = step(values)
        return np.abs(numbers), _checked(most)

    return run


def _sum(add: Callable[[Any, Any], Any], left: Step, right: Step) -> Step:
    def run(values: Values) -> Value:
        (one, most), (other, more) = left(values), right(values)
        limit = _checked(most + more)  # first: NumPy would overflow without a word
        return add(one, other), limit

    return run


def _product(left: Step, right: Step) -> Step:
    def run(values: Values) -> Value:
        (one, most), (other, more) = left(values), right(values)
        limit = _checked(most * more)
        return one * other, limit

    return run


def _remainder(step: Step, divisor: Step) -> Step:
    """With the sign of the number that is divided, as SQL has it."""

    def run(values: Values) -> Value:
        by = divisor(values)[0]
        if by == 0:
            raise _Unknown
        return np.fmod(step(values)[0], by), by

    return run


def _plain(function: Callable[[Any, Any], Any], left: Step, right: Step) -> Step:
    return lambda values: (function(left(values)[0], right(values)[0]), 0)


def _checked(most: int) -> int:
    if most >= _LIMIT:
        raise _Unknown
    return most
