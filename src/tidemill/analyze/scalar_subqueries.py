"""Subqueries that stand for a value."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from tidemill.algebra import AntiJoin, Join, Plan, Project, Scalar, SemiJoin, Union, column
from tidemill.algebra.scalar import column_node
from tidemill.analyze.functions import find_aggregate, is_aggregate
from tidemill.analyze.inner import Inner, is_single_row, plan_inner
from tidemill.analyze.stage import PlanStage, with_column
from tidemill.analyze.trees import (
    COMPARISONS,
    QUERIES,
    all_of,
    has_subquery,
    outside_subqueries,
    placed,
    rewrite,
    typed_null,
)
from tidemill.catalog.catalog import Catalog
from tidemill.errors import PlanError, UnsupportedError
from tidemill.sql import error_at

# Operations that answer NULL whenever a part is NULL.
_STRICT = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.Paren, exp.Cast)


def attach_scalars(stage: PlanStage, node: exp.Expr) -> exp.Expr:
    """Give the stage a column for every scalar subquery; the expression over these columns."""
    values: dict[exp.Expr, str] = {}

    def change(part: exp.Expr) -> exp.Expr | None:
        if isinstance(part, exp.Exists):
            return part.copy()
        if isinstance(part, exp.In) and part.args.get("query") is not None:
            return exp.In(this=rewrite(part.this, change), query=part.args["query"].copy())
        if isinstance(part, exp.Any | exp.All):
            return part.copy()
        if not isinstance(part, QUERIES):
            return None
        if part not in values:
            values[part] = _attach(stage, part)
        return placed(values[part], part)

    return rewrite(node, change)


def _attach(stage: PlanStage, tree: exp.Expr) -> str:
    """Add a column with the value of the subquery, also where it has no row."""
    inner = _planned(stage, tree)
    relation, name = inner.relation, stage.context.fresh("value")
    condition = _condition(stage, inner, [])
    value = relation.outputs[0].scalar
    kept = tuple((field.name, column(field.name, field.type)) for field in stage.plan.schema)
    found: Plan = Project(Join(stage.plan, relation.plan, condition), (*kept, (name, value)))
    empty = Scalar(_on_no_rows(inner), value.type)
    missing = with_column(AntiJoin(stage.plan, relation.plan, condition), name, empty)
    stage.plan = Union(found, missing)
    return name


def compare_directly(stage: PlanStage, node: exp.Expr) -> bool:
    """Plan `x = (SELECT MAX(y) ...)` as a semi-join, if NULL is its value without rows."""
    if not isinstance(node, COMPARISONS) or isinstance(node, exp.NullSafeEQ | exp.NullSafeNEQ):
        return False
    left, right = node.left.unnest(), node.right.unnest()
    tree, other = (left, right) if isinstance(left, QUERIES) else (right, left)
    if not isinstance(tree, QUERIES) or has_subquery(other):
        return False
    if not _is_null_on_no_rows(tree, stage.context.catalog):
        return False
    inner = _planned(stage, tree)
    value = inner.relation.outputs[0].scalar.node
    sides = [value.copy() if side is tree else side.copy() for side in (left, right)]
    test = type(node)(this=sides[0], expression=sides[1])
    condition = _condition(stage, inner, [test])
    stage.plan = SemiJoin(stage.plan, inner.relation.plan, condition)
    return True


def _planned(stage: PlanStage, tree: exp.Expr) -> Inner:
    inner = plan_inner(tree, stage)
    outputs = len(inner.relation.outputs)
    if outputs != 1:
        message = f"a subquery that stands for a value has {outputs} columns"
        raise error_at(PlanError, message, tree, "select one column")
    if not inner.relation.has_one_row:
        message = "a subquery that stands for a value can have several rows"
        help = "aggregate it without GROUP BY, add LIMIT 1, or compare with = ANY (...)"
        raise error_at(PlanError, message, tree, help)
    return inner


def _condition(stage: PlanStage, inner: Inner, tests: list[exp.Expr]) -> Scalar | None:
    node = all_of([*inner.conditions, *tests])
    right = inner.relation.plan.schema
    around = PlanStage(stage.context, stage.plan, stage.scope, right)
    return around.condition(node, "WHERE") if node is not None else None


def _on_no_rows(inner: Inner) -> exp.Expr:
    """SQL's value of the subquery over no rows, where our plan has no row at all."""
    relation, output = inner.relation, inner.relation.outputs[0]
    if relation.calls is None:
        return typed_null(output.scalar.type)
    around = {} if inner.domain is None else {v: k for k, v in inner.domain.names.items()}

    def change(node: exp.Expr) -> exp.Expr | None:
        if not isinstance(node, exp.Column):
            return None
        if node.name in around:
            return column_node(around[node.name])
        assert relation.calls is not None
        if node.name not in relation.calls:
            help = "compute it in a subquery in FROM first"
            message = "a subquery inside an aggregating subquery's SELECT is not supported"
            raise error_at(UnsupportedError, message, output.node, help)
        call = relation.calls[node.name]
        return exp.Literal.number(0) if call.function == "COUNT" else typed_null(call.type)

    return rewrite(output.scalar.node, change)


def _is_null_on_no_rows(tree: exp.Expr, catalog: Catalog) -> bool:
    """Whether a scalar subquery is surely NULL where it has nothing to select from."""
    if not is_single_row(tree, catalog):
        return True
    return _is_strict(tree.unnest().expressions[0].unalias(), catalog)


def _is_strict(node: exp.Expr, catalog: Catalog) -> bool:
    if is_aggregate(node, catalog):
        return not any(isinstance(part, exp.Count) for part in node.walk())
    parts = node.iter_expressions()
    return isinstance(node, _STRICT) and any(_is_strict(part, catalog) for part in parts)


def with_single_rows(node: exp.Expr, stage: PlanStage) -> exp.Expr:
    """Write predicates over a single aggregated row as comparisons with its value.

    SQL has such a row even where there is nothing to aggregate; our plans do not.
    """
    catalog = stage.context.catalog

    def change(part: exp.Expr) -> exp.Expr | None:
        if isinstance(part, exp.Exists) and is_single_row(part.this, catalog):
            plan_inner(part.this, stage)  # only to check it
            having = _having(part.this, catalog)
            return exp.true() if having is None else _coalesced(having)
        query = _quantified(part)
        if query is not None and is_single_row(query, catalog):
            return _compared(part, query, catalog)
        if isinstance(part, QUERIES) and is_single_row(part, catalog):
            having, value = _having(part, catalog), _without_having(part, catalog)
            return value if having is None else exp.Case(ifs=[exp.If(this=having, true=value)])
        return None

    # A comparison keeps its place among the others only if the rewriting reaches its operand.
    return rewrite(node, change) if any(map(_is_candidate, outside_subqueries(node))) else node


def _is_candidate(node: exp.Expr) -> bool:
    return isinstance(node, (*QUERIES, exp.Exists)) or _quantified(node) is not None


def _quantified(node: exp.Expr) -> exp.Expr | None:
    if isinstance(node, exp.In):
        return node.args.get("query")
    if isinstance(node, COMPARISONS) and isinstance(node.expression, exp.Any | exp.All):
        found = node.expression.this
        return found if isinstance(found, QUERIES) else None
    return None


def _compared(node: exp.Expr, query: exp.Expr, catalog: Catalog) -> exp.Expr:
    test, having = _comparison(node, query, catalog), _having(query, catalog)
    if having is None:
        return test
    every = isinstance(node.args.get("expression"), exp.All)
    return exp.Case(ifs=[exp.If(this=having, true=test)], default=exp.convert(every))


def _comparison(node: exp.Expr, query: exp.Expr, catalog: Catalog) -> exp.Expr:
    kind = exp.EQ if isinstance(node, exp.In) else type(node)
    operand, items = node.this.unnest(), query.unnest().expressions
    sides = operand.expressions if isinstance(operand, exp.Tuple) else []
    if kind is not exp.EQ or len(sides) != len(items):
        return kind(this=node.this.copy(), expression=_without_having(query, catalog))
    # A value has one column, so a tuple is compared part by part.
    values = (exp.Subquery(this=_bare(query.unnest(), [item], catalog)) for item in items)
    pairs = zip(sides, values, strict=True)
    test = all_of(exp.EQ(this=side.copy(), expression=value) for side, value in pairs)
    assert test is not None
    return exp.Paren(this=test)


def _coalesced(having: exp.Expr) -> exp.Expr:
    return exp.Coalesce(this=having, expressions=[exp.false()])


def _having(query: exp.Expr, catalog: Catalog) -> exp.Expr | None:
    """The condition of HAVING as a subquery of its own."""
    select = query.unnest()
    having = select.args.get("having")
    if having is None:
        return None
    aliases = {item.alias.casefold(): item.unalias() for item in select.expressions if item.alias}

    def change(node: exp.Expr) -> exp.Expr | None:
        is_name = isinstance(node, exp.Column) and not node.table
        found = aliases.get(node.name.casefold()) if is_name else None
        return None if found is None else exp.Paren(this=found.copy())

    return exp.Subquery(this=_bare(select, [rewrite(having.this, change)], catalog))


def _without_having(query: exp.Expr, catalog: Catalog) -> exp.Expr:
    select = query.unnest()
    return exp.Subquery(this=_bare(select, select.expressions, catalog))


def _bare(select: exp.Expr, items: Sequence[exp.Expr], catalog: Catalog) -> exp.Expr:
    """The rows of the query, aggregated to other items."""
    bare = select.copy()
    for clause in ("having", "distinct", "order", "limit"):
        bare.set(clause, None)
    bare.set("expressions", [item.copy() for item in items])
    if not any(find_aggregate(item, catalog) for item in items):
        bare.set("having", exp.Having(this=exp.true()))  # it alone makes one row of all
    return bare
