"""Joins of the entries of FROM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import (
    AntiJoin,
    Join,
    Plan,
    Project,
    Scalar,
    Schema,
    SemiJoin,
    Union,
    column,
)
from tidemill.algebra.scalar import column_node
from tidemill.analyze.generators import Elements
from tidemill.analyze.scope import Item, Merged, Scope
from tidemill.analyze.stage import PlanStage
from tidemill.analyze.subqueries import filter_with_subqueries
from tidemill.analyze.trees import all_of, columns_of, conjuncts_of, has_subquery, typed_null
from tidemill.errors import PlanError, UnsupportedError
from tidemill.sql import error_at

_WITHOUT_RIGHT = ("SEMI", "ANTI")


@dataclass
class Entry:
    """Part of FROM: its plan, its items, and the columns that USING gave one name."""

    plan: Plan
    items: list[Item]
    merged: dict[str, Merged]


@dataclass
class Step:
    """An entry, and how it joins with those before it."""

    entry: Entry
    join: exp.Join
    equal: list[exp.Expr]  # the conditions of USING
    scope: Scope | None = None  # what ON sees, if the rest of the query sees less
    elements: Elements | None = None  # what it makes of each row before, if it is a generator


def kind_of(join: exp.Join) -> str:
    """INNER, LEFT, RIGHT, FULL, SEMI or ANTI; a comma and CROSS JOIN are inner joins too."""
    kind, side, method = join.kind.upper(), join.side.upper(), join.method.upper()
    if method not in ("", "NATURAL") or (kind in _WITHOUT_RIGHT and side == "RIGHT"):
        words = " ".join(filter(None, (method, side, kind)))
        help = "write JOIN, LEFT JOIN, SEMI JOIN or ANTI JOIN, with the sides in this order"
        if method == "ASOF":
            help = "for the newest partner, write JOIN b WINDOW(PARTITION BY id ROWS 1) ON ..."
        raise error_at(UnsupportedError, f"{words} JOIN is not supported", join, help)
    return kind if kind in _WITHOUT_RIGHT else side or "INNER"


def hides_right(join: exp.Join) -> bool:
    """Whether only ON sees the right side: its columns are not in the result."""
    return kind_of(join) in _WITHOUT_RIGHT


@dataclass
class Joiner:
    """Joins two entries; `defer` takes the conditions that have to wait for the WHERE."""

    stage: PlanStage
    defer: Callable[[exp.Expr], None]

    def join(self, left: Plan, step: Step, extra: list[exp.Expr]) -> Plan:
        """The join of what came before with an entry; `extra` are conditions from the WHERE."""
        if step.elements is not None:
            return self._unnested(left, step, step.elements)
        kind, right = kind_of(step.join), step.entry.plan
        scope = step.scope or self.stage.scope
        on = self._on(left.schema + right.schema, step.join, kind, scope)
        plain = [node for node in on if not has_subquery(node)]
        node = all_of([*extra, *step.equal, *plain])
        around = PlanStage(self.stage.context, left, scope, right.schema)
        condition = around.condition(node, "ON") if node is not None else None
        pending = [node for node in on if has_subquery(node)]
        if not pending:
            return joined(left, right, condition, kind)
        pairs = PlanStage(self.stage.context, Join(left, right, condition), scope)
        for node in pending:
            filter_with_subqueries(pairs, node, "ON")
        return _of_pairs(pairs, left, right, kind)

    def _unnested(self, left: Plan, step: Step, elements: Elements) -> Plan:
        """The rows before, each with its elements that meet the condition."""
        stage = PlanStage(self.stage.context, elements.over(left), self.stage.scope)
        if kind_of(step.join) == "INNER":
            for node in self._on(stage.plan.schema, step.join, "INNER", stage.scope):
                if has_subquery(node):
                    filter_with_subqueries(stage, node, "ON")
                else:
                    stage.filter(node, "ON")
        return stage.plan

    def _on(self, schema: Schema, join: exp.Join, kind: str, scope: Scope) -> list[exp.Expr]:
        on = join.args.get("on")
        if on is None:
            self._check_condition(join, kind)
            return []
        conditions = []
        bound = PlanStage(self.stage.context, self.stage.plan, scope).bind(on, "ON")
        for node in conjuncts_of(bound):
            if columns_of(node) <= set(schema.names):
                conditions.append(node)
            else:
                self._wait(node, kind)
        return conditions

    def _check_condition(self, join: exp.Join, kind: str) -> None:
        if kind != "INNER" and not join.args.get("using") and not join.method:
            help = f"add ON, as in {kind} JOIN b ON a.id = b.id"
            raise error_at(PlanError, f"{kind} JOIN needs a condition", join, help)

    def _wait(self, node: exp.Expr, kind: str) -> None:
        owned = {n for i in self.stage.scope.items for n in i.plan.schema.names}
        if columns_of(node) & owned and not columns_of(node) - owned:
            message = "ON mentions a stream that comes later in FROM"
            raise error_at(PlanError, message, node, "change the order, or move it to WHERE")
        if kind != "INNER":
            message = f"ON of a {kind} JOIN cannot mention columns of the query around it"
            raise error_at(UnsupportedError, message, node, "filter in a subquery in FROM")
        self.defer(node)


def merge(left: Entry, right: Entry, join: exp.Join) -> tuple[list[exp.Expr], dict[str, Merged]]:
    """Equate the columns of USING or NATURAL, and give them one name."""
    equal: list[exp.Expr] = []
    kind, merged = kind_of(join), {}
    for node in _using(left, right, join):
        one, other = _side(left, node), _side(right, node)
        equal.append(exp.EQ(this=one.node.copy(), expression=other.node.copy()))
        both = exp.Coalesce(this=one.node.copy(), expressions=[other.node.copy()])
        value = {"RIGHT": other.node, "FULL": both}.get(kind, one.node)
        merged[node.name.casefold()] = Merged(one.name, value, one.members | other.members)
    return equal, merged


def _using(left: Entry, right: Entry, join: exp.Join) -> list[exp.Expr]:
    if join.method.upper() != "NATURAL":
        return list(join.args.get("using") or ())
    names = {name.casefold() for item in right.items for name in item.visible}
    common = dict.fromkeys(n for item in left.items for n in item.visible if n.casefold() in names)
    if not common:
        message = "NATURAL JOIN finds no column of the same name on both sides"
        raise error_at(PlanError, message, join, "write JOIN ... ON")
    return [exp.to_identifier(name) for name in common]


def _side(entry: Entry, name: exp.Expr) -> Merged:
    if (known := entry.merged.get(name.name.casefold())) is not None:
        return known
    node = Scope(entry.items).resolve(exp.Column(this=name.copy()))
    return Merged(node.name.split(".", 1)[1], node, frozenset(columns_of(node)))


def joined(left: Plan, right: Plan, condition: Scalar | None, kind: str) -> Plan:
    """A join; an outer one is the inner join and the rows that found no partner."""
    if kind in _WITHOUT_RIGHT:
        return (SemiJoin if kind == "SEMI" else AntiJoin)(left, right, condition)
    plan: Plan = Join(left, right, condition)
    if kind in ("LEFT", "FULL"):
        plan = Union(plan, _padded(AntiJoin(left, right, condition), plan.schema))
    if kind in ("RIGHT", "FULL"):
        plan = Union(plan, _padded(AntiJoin(right, left, condition), plan.schema))
    return plan


def _of_pairs(pairs: PlanStage, left: Plan, right: Plan, kind: str) -> Plan:
    """A join whose pairs were found another way: the pairs tell which rows have a partner."""
    plan = pairs.plan
    if kind in _WITHOUT_RIGHT:
        return _among(pairs, left, kind == "SEMI")
    if kind in ("LEFT", "FULL"):
        plan = Union(plan, _padded(_among(pairs, left, False), pairs.plan.schema))
    if kind in ("RIGHT", "FULL"):
        plan = Union(plan, _padded(_among(pairs, right, False), pairs.plan.schema))
    return plan


def _among(pairs: PlanStage, side: Plan, wanted: bool) -> Plan:
    """The rows of a side that are in a pair, or those that are in none.

    Equal rows are in the same pairs, so a row is known by its values; NULLs are values here.
    """
    names = {field.name: pairs.context.fresh("pair") for field in side.schema}
    items = tuple((names[f.name], column(f.name, f.type)) for f in side.schema)
    other = Project(pairs.plan, items)
    same = all_of(
        exp.NullSafeEQ(this=column_node(old), expression=column_node(new))
        for old, new in names.items()
    )
    assert same is not None
    condition = Scalar(same, pa.bool_())
    return SemiJoin(side, other, condition) if wanted else AntiJoin(side, other, condition)


def _padded(plan: Plan, schema: Schema) -> Plan:
    """The plan with NULL in the columns that it lacks."""
    items = (
        (
            f.name,
            column(f.name, f.type) if f.name in plan.schema else Scalar(typed_null(f.type), f.type),
        )
        for f in schema
    )
    return Project(plan, tuple(items))


def take_equalities(pool: list[exp.Expr], left: Schema, right: Schema) -> list[exp.Expr]:
    """Take the conditions out of the pool that equate the two sides of a join."""
    taken = [node for node in pool if _equates(node, set(left.names), set(right.names))]
    pool[:] = [node for node in pool if node not in taken]
    return taken


def _equates(node: exp.Expr, left: set[str], right: set[str]) -> bool:
    if not isinstance(node, exp.EQ | exp.NullSafeEQ):
        return False
    sides = [columns_of(node.left), columns_of(node.right)]
    if not all(sides):
        return False
    return any(one <= left and other <= right for one, other in (sides, sides[::-1]))
