"""The select list, with `*` spelled out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from tidemill.analyze.scope import Item, Scope
from tidemill.analyze.stage import Stage
from tidemill.analyze.trees import placed, written
from tidemill.errors import PlanError, UnsupportedError, nearest
from tidemill.sql import error_at


@dataclass
class Selected:
    """One output of a block: its name, its bound expression, and what the user wrote."""

    name: str
    node: exp.Expr
    origin: exp.Expr


def select_list(select: exp.Select, stage: Stage) -> list[Selected]:
    """The outputs of a SELECT, bound to the columns of the stage."""
    return [each for node in select.expressions for each in _expanded(node, stage)]


def _expanded(node: exp.Expr, stage: Stage) -> Iterator[Selected]:
    star = node.this if isinstance(node, exp.Column) else node
    if isinstance(star, exp.Star):
        if any(star.args.values()):
            message = "`*` takes no EXCEPT, REPLACE or RENAME"
            raise error_at(UnsupportedError, message, node, "list the columns")
        yield from _star(node, stage.scope)
        return
    value = node.unalias()
    bound = stage.bind(value)
    yield Selected(node.alias or _own_name(value, bound, stage.scope), bound, node)


def _own_name(value: exp.Expr, bound: exp.Expr, scope: Scope) -> str:
    if isinstance(bound, exp.Column):
        for item in scope.items:
            if bound.name.startswith(f"{item.prefix}."):
                return bound.name.removeprefix(f"{item.prefix}.")
    if isinstance(value, exp.Column):
        return value.name
    return written(value)


def _star(node: exp.Expr, scope: Scope) -> Iterator[Selected]:
    if isinstance(node, exp.Column):
        yield from _all_of(_item(node, scope), node)
        return
    hidden: set[str] = set()
    for merged in scope.merged.values():
        hidden |= merged.members
        yield Selected(merged.name, merged.node.copy(), node)
    for item in scope.items:
        yield from (each for each in _all_of(item, node) if each.node.name not in hidden)


def _all_of(item: Item, node: exp.Expr) -> Iterator[Selected]:
    for name in item.visible:
        yield Selected(name, placed(item.plan_column(name), node), node)


def _item(node: exp.Column, scope: Scope) -> Item:
    item = scope.item(node.table)
    if item is None:
        aliases = [each.alias for each in scope.items]
        near = nearest(node.table, aliases)
        guess = f"did you mean `{near}`? " if near else ""
        message = f"unknown stream or alias `{node.table}`"
        raise error_at(PlanError, message, node, f"{guess}FROM has: {', '.join(aliases)}")
    return item
