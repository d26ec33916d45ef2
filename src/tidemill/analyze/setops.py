"""UNION, EXCEPT and INTERSECT, and other queries made of queries."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import (
    Difference,
    Distinct,
    Intersection,
    Plan,
    Scalar,
    StrictDifference,
    Union,
    column,
)
from tidemill.algebra.types import is_numeric, name_of
from tidemill.analyze.common_tables import common_tables
from tidemill.analyze.context import Context
from tidemill.analyze.correlation import Link
from tidemill.analyze.ordering import Term, first_rows, order_terms, ordinal
from tidemill.analyze.query import plan_tree
from tidemill.analyze.relation import Output, PlannedRelation, check_names, unique_names
from tidemill.analyze.scope import Scope
from tidemill.analyze.stage import PlanStage
from tidemill.analyze.trees import cast, rewrite
from tidemill.analyze.windows import apply_function
from tidemill.errors import PlanError, UnsupportedError, nearest
from tidemill.sql import StreamFunction, error_at


@plan_tree.register
def plan_set_operation(
    tree: exp.SetOperation, context: Context, link: Link | None
) -> PlannedRelation:
    """Plan a set operation; its columns are named as on the left."""
    with common_tables(tree, context, link):
        left = plan_tree(tree.left, context, link)
        right = plan_tree(tree.right, context, link)
    if tree.args.get("by_name"):
        left, right = _by_name(tree, left, right)
    names = unique_names(left.names)
    plan = _combined(tree, *_aligned(tree, left, right, names))
    outputs = _columns(plan, names, left)
    windowed = left.is_windowed or right.is_windowed
    relation = PlannedRelation(plan, outputs, left.carried, is_windowed=windowed)
    return _first_rows(relation, tree, context)


@plan_tree.register
def plan_parentheses(tree: exp.Subquery, context: Context, link: Link | None) -> PlannedRelation:
    """Plan a query in parentheses, perhaps with a LIMIT after them."""
    with common_tables(tree, context, link):
        return _first_rows(plan_tree(tree.this, context, link), tree, context)


@plan_tree.register
def plan_stream_function(
    tree: StreamFunction, context: Context, link: Link | None
) -> PlannedRelation:
    """Plan ISTREAM, DSTREAM or RSTREAM of a query."""
    if link is not None and link.domain is not None and not link.is_trial:
        message = f"{tree.text('kind')} in a subquery that mentions columns of the query around it"
        help = "move the condition to the WHERE outside"
        raise error_at(UnsupportedError, f"{message} is not supported", tree, help)
    inner = plan_tree(tree.this, context, link)
    names = unique_names(inner.names)
    plan = apply_function(inner.close(names), tree, context)
    outputs = _columns(plan, names, inner)
    return PlannedRelation(plan, outputs, inner.carried, inner.moved, is_windowed=True)


def _columns(plan: Plan, names: tuple[str, ...], origin: PlannedRelation) -> tuple[Output, ...]:
    return tuple(
        Output(output.name, column(name, plan.schema[name]), output.node)
        for name, output in zip(names, origin.outputs, strict=True)
    )


def _by_name(
    tree: exp.SetOperation, left: PlannedRelation, right: PlannedRelation
) -> tuple[PlannedRelation, PlannedRelation]:
    """Both sides with the columns of both; what a side has not is NULL."""
    if not isinstance(tree, exp.Union):
        help = "order the columns, as in SELECT a, b FROM ..."
        raise error_at(UnsupportedError, f"{_word(tree)} BY NAME is not supported", tree, help)
    known = {name.casefold() for name in left.names}
    more = [each for each in right.outputs if each.name.casefold() not in known]
    wanted = [*left.outputs, *more]
    return replace(left, outputs=_named(left, wanted)), replace(
        right, outputs=_named(right, wanted)
    )


def _named(side: PlannedRelation, wanted: list[Output]) -> tuple[Output, ...]:
    check_names(side.outputs)
    own = {output.name.casefold(): output for output in side.outputs}
    nothing = Scalar(exp.null(), pa.null())
    return tuple(
        own.get(each.name.casefold()) or Output(each.name, nothing, each.node) for each in wanted
    )


def _aligned(
    tree: exp.SetOperation, left: PlannedRelation, right: PlannedRelation, names: tuple[str, ...]
) -> tuple[Plan, Plan]:
    """Both sides with the same columns, cast to a common type where they differ."""
    counts = len(left.outputs), len(right.outputs)
    if counts[0] != counts[1]:
        sizes = [f"{count} column{'s' * (count != 1)}" for count in counts]
        message = f"the left side of {_word(tree)} has {sizes[0]}, the right side {sizes[1]}"
        node = right.outputs[-1].node
        raise error_at(PlanError, message, node, "select the same number on both sides")
    types = [_common(tree, *pair) for pair in zip(left.outputs, right.outputs, strict=True)]
    return _cast(left, types).close(names), _cast(right, types).close(names)


def _cast(relation: PlannedRelation, types: list[pa.DataType]) -> PlannedRelation:
    outputs = tuple(
        output
        if output.scalar.type == wanted
        else Output(
            output.name, Scalar(cast(output.scalar.node.copy(), wanted), wanted), output.node
        )
        for output, wanted in zip(relation.outputs, types, strict=True)
    )
    return PlannedRelation(relation.plan, outputs, relation.carried)


def _common(tree: exp.SetOperation, left: Output, right: Output) -> pa.DataType:
    found = common_type(left.scalar.type, right.scalar.type)
    if found is None:
        names = name_of(left.scalar.type), name_of(right.scalar.type)
        message = f"column `{left.name}` of {_word(tree)} is {names[0]} on the left"
        help = "convert one side with CAST(... AS TYPE)"
        raise error_at(PlanError, f"{message}, {names[1]} on the right", right.node, help)
    return found


def common_type(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """The type that holds the values of both, by Spark's widening.

    >>> common_type(pa.int32(), pa.decimal128(5, 2)), common_type(pa.int32(), pa.string())
    (Decimal128Type(decimal128(12, 2)), None)
    """
    if left == right or pa.types.is_null(right):
        return left
    if pa.types.is_null(left):
        return right
    if is_numeric(left) and is_numeric(right):
        return _common_number(left, right)
    if all(pa.types.is_date(t) or pa.types.is_timestamp(t) for t in (left, right)):
        return pa.timestamp("us")
    return None


def _common_number(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    if pa.types.is_floating(left) or pa.types.is_floating(right):
        # A FLOAT holds no more than 24 bits, so only another FLOAT or a short integer stays one.
        small = all(t in (pa.float32(), pa.int8(), pa.int16()) for t in (left, right))
        return pa.float32() if small else pa.float64()
    if pa.types.is_integer(left) and pa.types.is_integer(right):
        return max(left, right, key=lambda each: int(each.bit_width))
    (p1, s1), (p2, s2) = _digits(left), _digits(right)
    scale = max(s1, s2)
    return pa.decimal128(min(38, max(p1 - s1, p2 - s2) + scale), min(38, scale))


def _digits(data_type: pa.DataType) -> tuple[int, int]:
    if pa.types.is_decimal(data_type):
        return data_type.precision, data_type.scale
    return {8: 3, 16: 5, 32: 10, 64: 20}[data_type.bit_width], 0


def _word(tree: exp.SetOperation) -> str:
    return tree.key.upper()


def _combined(tree: exp.SetOperation, left: Plan, right: Plan) -> Plan:
    every = not tree.args.get("distinct")
    if isinstance(tree, exp.Union):
        return Union(left, right) if every else Distinct(Union(left, right))
    if isinstance(tree, exp.Except):
        return Difference(left, right) if every else Distinct(StrictDifference(left, right))
    return Intersection(left, right) if every else Distinct(Intersection(left, right))


def _first_rows(relation: PlannedRelation, tree: exp.Expr, context: Context) -> PlannedRelation:
    """Order by columns of the result, by number, or by expressions over them."""
    terms = [Term(_bound(each.this, relation), each) for each in order_terms(tree)]
    stage = PlanStage(context, relation.plan, Scope([]))
    return first_rows(relation, tree, terms, context, stage.scalar)


def _bound(node: exp.Expr, relation: PlannedRelation) -> exp.Expr:
    if (index := ordinal(node, len(relation.outputs))) is not None:
        return relation.outputs[index].scalar.node

    def change(part: exp.Expr) -> exp.Expr | None:
        if not isinstance(part, exp.Column):
            return None
        for output in relation.outputs:
            if not part.table and output.name.casefold() == part.name.casefold():
                return output.scalar.node.copy()
        near = nearest(part.name, relation.names)
        guess = f"did you mean `{near}`? " if near else ""
        help = f"{guess}the result has: {', '.join(relation.names)}"
        raise error_at(PlanError, f"unknown column `{part.name}` in ORDER BY", part, help)

    return rewrite(node, change)
