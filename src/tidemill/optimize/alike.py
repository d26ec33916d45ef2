"""Plans that have the same rows, whatever their columns are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

from tidemill.algebra import nodes
from tidemill.algebra.aggregates import AggregateCall
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar
from tidemill.optimize.sharing import opened

Names = Mapping[str, str]


def are_alike(one: Plan, other: Plan) -> bool:
    """Whether two plans surely have the same rows, column by column.

    >>> from tidemill.algebra import Distinct, Scan, Schema
    >>> bid = Schema(())
    >>> are_alike(Distinct(Scan("bid", "a", bid)), Distinct(Scan("bid", "b", bid)))
    True
    >>> are_alike(Distinct(Scan("bid", "a", bid)), Scan("bid", "b", bid))
    False
    """
    one, other = opened(one), opened(other)
    if one is other:
        return True
    if type(one) is not type(other) or len(one.children) != len(other.children):
        return False
    if isinstance(one, nodes.Scan) and isinstance(other, nodes.Scan):
        return replace(one, alias=other.alias) == other
    pairs = list(zip(one.children, other.children, strict=True))
    if not all(are_alike(*pair) for pair in pairs):
        return False
    names = {
        theirs: ours
        for mine, yours in pairs
        for ours, theirs in zip(mine.schema.names, yours.schema.names, strict=True)
    }
    return _attributes(one, {}) == _attributes(other, names)


def _attributes(node: Plan, names: Names) -> list[object]:
    """What a node does with its inputs, with their columns renamed."""
    values = (getattr(node, field.name) for field in fields(node))
    return [_renamed(value, names) for value in values if not _is_input(value)]


def _is_input(value: object) -> bool:
    return isinstance(value, Plan) or (
        isinstance(value, tuple) and bool(value) and isinstance(value[0], Plan)
    )


def _renamed(value: object, names: Names) -> object:
    match value:
        case Scalar():
            return value.rename(names)
        case nodes.SortKey():
            return replace(value, column=names.get(value.column, value.column))
        case AggregateCall():
            argument = names.get(value.argument or "", value.argument)
            return replace(value, name="", argument=argument)
        case (str(), Scalar() as item):  # an item of a projection: its name is free
            return _renamed(item, names)
        case tuple():
            return tuple(_renamed(part, names) for part in value)
        case str():
            return names.get(value, value)
    return value
