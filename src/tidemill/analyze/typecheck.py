"""Types of expressions, with errors that point at the part that is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import Schema
from tidemill.algebra.types import UnknownType, is_numeric, name_of
from tidemill.analyze.functions import name_of_call, not_supported
from tidemill.analyze.trees import COMPARISONS, written
from tidemill.errors import PlanError
from tidemill.expressions import NotSupported, TypeMismatch, UserFunction, check, infer
from tidemill.sql import error_at

Functions = dict[str, UserFunction]

# What the parser puts around an argument.
_ADDED: Final = (exp.TsOrDsToDate, exp.TimeStrToTime)
_TRUE_OR_FALSE: Final = (exp.And, exp.Or, exp.Not, exp.Between, exp.In, exp.Is, *COMPARISONS)


def type_of(node: exp.Expr, schema: Schema, functions: Functions) -> pa.DataType:
    """The type of a bound expression; an error if it has none."""
    _check_parts(node, schema, functions)
    try:
        found = infer(node, schema, functions)
        check(node, schema, functions)
    except TypeMismatch as mismatch:
        raise _explained(mismatch, node) from None
    except UnknownType as unknown:
        message = f"`{written(node)}` is {unknown}, a type that no column can hold"
        raise error_at(PlanError, message, node, "CAST it to another type") from None
    return found


def check_boolean(node: exp.Expr, found: pa.DataType, clause: str) -> None:
    """Refuse a condition that is neither true nor false."""
    if not (pa.types.is_boolean(found) or pa.types.is_null(found)):
        message = f"{clause} takes a condition, but `{written(node)}` is {name_of(found)}"
        raise error_at(PlanError, message, node, "compare it with something, as in `... > 0`")


def _check_parts(node: exp.Expr, schema: Schema, functions: Functions) -> None:
    """Find what DuckDB lets pass: a comparison of different kinds, a number as condition."""
    for part in node.walk():
        for left, right in _compared(part):
            types = [_try(side, schema, functions) for side in (left, right)]
            if types[0] is not None and types[1] is not None:
                _check_comparable(part, (left, right), (types[0], types[1]))
        for condition, clause in _conditions(part):
            if isinstance(condition.unnest(), _TRUE_OR_FALSE):
                continue  # asking for the type of each part of a long condition takes its time
            if (found := _try(condition, schema, functions)) is not None:
                if clause == "WHEN" and isinstance(condition.unnest(), exp.Null):
                    raise error_at(PlanError, "WHEN takes a condition", part, "write FALSE")
                check_boolean(condition, found, clause)


def _compared(node: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    if isinstance(node, COMPARISONS):
        yield node.left, node.right
    elif isinstance(node, exp.Between):
        yield node.this, node.args["low"]
        yield node.this, node.args["high"]
    elif isinstance(node, exp.In):
        yield from ((node.this, choice) for choice in _unlike(node.expressions))


def _unlike(choices: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    """Choices of IN without constants of a kind that was there before: there may be thousands."""
    seen: set[bool] = set()
    for choice in choices:
        if not isinstance(choice, exp.Literal):
            yield choice
        elif choice.is_string not in seen:
            seen.add(choice.is_string)
            yield choice


def _conditions(node: exp.Expr) -> Iterator[tuple[exp.Expr, str]]:
    if isinstance(node, exp.And | exp.Or):
        yield node.left, node.key.upper()
        yield node.right, node.key.upper()
    elif isinstance(node, exp.Not):
        yield node.this, "NOT"
    elif isinstance(node, exp.Case) and node.this is None:
        yield from ((branch.this, "WHEN") for branch in node.args["ifs"])


def _try(node: exp.Expr, schema: Schema, functions: Functions) -> pa.DataType | None:
    try:
        return infer(node, schema, functions)
    except (TypeMismatch, UnknownType):
        return None  # reported for the expression as a whole


def _check_comparable(
    node: exp.Expr, sides: tuple[exp.Expr, exp.Expr], types: tuple[pa.DataType, pa.DataType]
) -> None:
    kinds = [_kind(each) for each in types]
    if kinds[0] == kinds[1] or "null" in kinds:
        return
    # '2024-01-01' is the way to write a date.
    texts = [side.unnest().is_string for side in sides]
    if "time" in kinds and any(texts):
        return
    message = f"cannot compare {name_of(types[0])} with {name_of(types[1])}"
    wrong = 0 if kinds[0] == "text" else 1
    help = f"convert one side: CAST({written(sides[wrong])} AS {name_of(types[1 - wrong])})"
    raise error_at(PlanError, message, node, help)


def _kind(data_type: pa.DataType) -> str:
    if is_numeric(data_type):
        return "number"
    if pa.types.is_date(data_type) or pa.types.is_timestamp(data_type):
        return "time"
    # Of nested types only the shape is compared here: DuckDB looks into them.
    return "text" if pa.types.is_string(data_type) else name_of(data_type).split("<")[0].lower()


def _explained(mismatch: TypeMismatch, whole: exp.Expr) -> PlanError:
    """The error of the part that is wrong."""
    node = whole if mismatch.node is None else mismatch.node
    if isinstance(node, _ADDED) and isinstance(node.parent, exp.Func):
        mismatch.args = (str(mismatch).replace(node.sql_name(), node.parent.sql_name()),)
        node = node.parent
    if isinstance(mismatch, NotSupported):
        return not_supported(node, str(mismatch), mismatch.help)
    help = mismatch.help or "convert the value with CAST(... AS TYPE)"
    return error_at(PlanError, _as_called(str(mismatch).rstrip("!."), node), node, help)


def _as_called(message: str, node: exp.Expr) -> str:
    """The message, with the name of a function as the user wrote it."""
    if not isinstance(node, exp.Func) or isinstance(node, exp.Connector):
        return message
    return message.replace(f"`{node.sql_name()}`", f"`{name_of_call(node)}`", 1)
