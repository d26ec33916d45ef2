"""What aggregates take, computed below the join: `SUM(bid.price * 0.9)` has parts as a column has.

Only where the expression follows from one input and cannot fail, since there it sees rows that find
no partner. And where rows of an outer join lack the input, it must be NULL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from tidemill.algebra.aggregates import AggregateCall
from tidemill.algebra.nodes import Filter, Project
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar, column
from tidemill.algebra.schema import Schema
from tidemill.analyze.trees import typed_null
from tidemill.optimize.early.arms import Arm, is_null, joined_over
from tidemill.optimize.early.rule import coalesces
from tidemill.optimize.expressions import is_repeatable, is_total

Columns = Mapping[str, Scalar]

# With these, NULL in gives NULL out.
_LEAVES = (exp.Column, exp.Identifier, exp.Literal, exp.DataType)
_STRICT = (*_LEAVES, exp.Paren, exp.Cast, exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div)


def computed_below(
    keys: Sequence[str], calls: tuple[AggregateCall, ...], arms: Sequence[Arm]
) -> tuple[tuple[AggregateCall, ...], tuple[Arm, ...]]:
    """Calls and arms, with arguments that may be computed in an input as columns of it."""
    found = {call.name: scalar for call in calls if (scalar := _argument(call, arms)) is not None}
    if not found:
        return calls, tuple(arms)
    changed = tuple(
        replace(call, argument=f"#{found[call.name]}") if call.name in found else call
        for call in calls
    )
    columns = {f"#{scalar}": scalar for scalar in found.values()}
    wanted = {*keys, *(call.argument for call in changed if call.argument is not None)}
    first = arms[0].inputs
    inputs = [_extended(child, columns) for child in first]

    def rebuilt(arm: Arm) -> Arm:
        replaced = [inputs[first.index(child)] for child in arm.inputs]
        base = joined_over(arm.base, iter(replaced))
        return Arm(_passed(arm, base.schema, columns, wanted), base)

    return changed, tuple(map(rebuilt, arms))


def _argument(call: AggregateCall, arms: Sequence[Arm]) -> Scalar | None:
    """What a call takes, if it is computed and may be computed below the join."""
    if call.argument is None or not coalesces(call):
        return None
    scalar, schema = arms[0].resolved(call.argument), arms[0].base.schema
    if scalar.is_column or not scalar.columns:
        return None
    inside = any(scalar.columns <= set(child.schema.names) for child in arms[0].inputs)
    if not (inside and is_repeatable(scalar) and is_total(scalar, schema)):
        return None
    others = (arm.resolved(call.argument) for arm in arms[1:])
    return scalar if all(_agrees(scalar, other, schema) for other in others) else None


def _agrees(scalar: Scalar, other: Scalar, schema: Schema) -> bool:
    """Whether an arm computes the same, or NULL since it has only NULLs to compute it from."""
    nulls = {name: Scalar(typed_null(schema[name]), schema[name]) for name in scalar.columns}
    is_strict = all(isinstance(node, _STRICT) for node in scalar.node.walk())
    without = is_strict and str(other) == str(scalar.substitute(nulls))
    return is_null(other) or without or str(other) == str(scalar)


def _extended(child: Plan, columns: Columns) -> Plan:
    """An input with what is computed from it."""
    own = [(n, s) for n, s in columns.items() if s.columns <= set(child.schema.names)]
    kept = ((field.name, column(field.name, field.type)) for field in child.schema)
    return Project(child, (*kept, *own)) if own else child


def _passed(
    arm: Arm, below: Schema, columns: Columns, wanted: set[str]
) -> tuple[Project | Filter, ...]:
    """What is between, passing the new columns on, without what nobody needs any more."""
    needed, passed = set(wanted), list[Project | Filter]()
    lowest = max((n for n, node in enumerate(arm.between) if isinstance(node, Project)), default=-1)
    for number, node in enumerate(arm.between):
        if isinstance(node, Filter):
            passed.append(node)
            needed |= node.predicate.columns
            continue
        kept = [(name, scalar) for name, scalar in node.items if name in needed]
        here = below.names if number == lowest else tuple(columns)
        added = [(name, _given(name, columns[name], name in here)) for name in columns]
        passed.append(replace(node, items=(*kept, *added)))
        needed = {used for _, scalar in kept for used in scalar.columns}
    return tuple(passed)


def _given(name: str, scalar: Scalar, is_here: bool) -> Scalar:
    """A new column in a projection: from below, or NULL where the input is not there."""
    return column(name, scalar.type) if is_here else Scalar(typed_null(scalar.type), scalar.type)
