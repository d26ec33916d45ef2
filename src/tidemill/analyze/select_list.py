"""The select list, with `*` spelled out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from tidemill.analyze.generators import is_generator
from tidemill.analyze.scope import Item, Scope
from tidemill.analyze.trees import placed, rewrite, written
from tidemill.errors import PlanError, nearest
from tidemill.sql import error_at


@dataclass
class Selected:
    """One output of a block: its name, its bound expression, and what the user wrote."""

    name: str
    node: exp.Expr
    origin: exp.Expr


Bind = Callable[[exp.Expr], exp.Expr]


def select_list(select: exp.Select, scope: Scope, bind: Bind) -> Iterator[Selected]:
    """The outputs of a SELECT, one by one: later ones may use the names of earlier ones."""
    for node in select.expressions:
        yield from _expanded(node, scope, bind)


def _expanded(node: exp.Expr, scope: Scope, bind: Bind) -> Iterator[Selected]:
    star = node.this if isinstance(node, exp.Column) else node
    if isinstance(star, exp.Star):
        yield from _changed(list(_star(node, scope)), star, bind)
        return
    value = node.this if isinstance(node, exp.Aliases) else node.unalias()
    bound = bind(value)
    if is_generator(value):
        yield Selected(node.alias, bound, node)
        return
    yield Selected(node.alias or _own_name(value, bound, scope), bound, node)


def _changed(columns: list[Selected], star: exp.Star, bind: Bind) -> Iterator[Selected]:
    """The columns of `*` EXCEPT some, with others REPLACEd or RENAMEd."""
    left_out = {_meant(node, columns) for node in star.args.get("except_") or ()}
    replaced = {_meant(node, columns): node for node in star.args.get("replace") or ()}
    renamed = {_meant(node.this, columns): node.alias for node in star.args.get("rename") or ()}
    for each in columns:
        if each.name in left_out:
            continue
        if (other := replaced.get(each.name)) is not None:
            each = Selected(each.name, bind(other.this), other)
        yield Selected(renamed.get(each.name, each.name), each.node, each.origin)


def count_whole_rows(node: exp.Expr, scope: Scope) -> exp.Expr:
    """`COUNT(b.*)` with the columns of `b` spelled out."""

    def change(part: exp.Expr) -> exp.Expr | None:
        star = part.this if isinstance(part, exp.Count) else None
        if not isinstance(star, exp.Column) or not isinstance(star.this, exp.Star):
            return None
        item = _item(star, scope)
        table = exp.to_identifier(item.alias)
        columns = [exp.Column(this=exp.to_identifier(n), table=table) for n in item.visible]
        return exp.Count(this=columns[0], expressions=columns[1:])

    return rewrite(node, change)


def _meant(node: exp.Expr, columns: list[Selected]) -> str:
    """The column of `*` that EXCEPT, REPLACE or RENAME names."""
    name = node.alias_or_name
    names = [each.name for each in columns]
    found = next((each for each in names if each.casefold() == name.casefold()), None)
    if found is None:
        near = nearest(name, names)
        guess = f"did you mean `{near}`? " if near else ""
        message = f"`*` has no column `{name}`"
        raise error_at(PlanError, message, node, f"{guess}columns: {', '.join(names)}")
    return found


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
