"""Columns that plans compute, keep or leave out, and the user functions for that."""

from __future__ import annotations

from sqlglot import exp

from tidemill.algebra.scalar import Scalar, column
from tidemill.expressions import UserFunction
from tidemill.expressions.functions import Functions
from tidemill.physical.operator import Exec
from tidemill.physical.operators.project import ProjectExec

Items = tuple[tuple[str, Scalar], ...]


def used(functions: Functions, *scalars: Scalar | None) -> tuple[UserFunction, ...]:
    """The user functions that the expressions call."""
    calls = {
        call.name.lower()
        for scalar in scalars
        if scalar is not None
        for call in scalar.node.find_all(exp.Anonymous)
    }
    return tuple(functions[name] for name in sorted(calls) if name in functions)


def computing(child: Exec, items: Items, functions: Functions) -> Exec:
    """A plan with more columns."""
    if not items:
        return child
    kept = tuple((field.name, column(field.name, field.type)) for field in child.schema)
    return ProjectExec(child, kept + items, used(functions, *(scalar for _, scalar in items)))


def only(child: Exec, names: tuple[str, ...]) -> Exec:
    """Some columns of a plan, in this order."""
    if child.schema.names == names:
        return child
    return ProjectExec(child, tuple((name, column(name, child.schema[name])) for name in names))


def all_of(child: Exec) -> Exec:
    """All columns of a plan, as they are."""
    return ProjectExec(child, tuple((f.name, column(f.name, f.type)) for f in child.schema))
