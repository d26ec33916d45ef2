"""Where our SQL differs from DuckDB's on purpose, and how to make DuckDB follow."""

from __future__ import annotations

from sqlglot import exp

_LONGEST = "longest"
"""The user aggregate of the random queries."""


def adapt(tree: exp.Expr) -> exp.Expr:
    """The query with DuckDB told about empty groups and ties."""
    tree = tree.copy()
    for select in list(tree.find_all(exp.Select)):
        if _is_scalar(select) and not _is_expression(select):
            _refuse_empty(select)
    for call in list(tree.find_all(exp.Anonymous)):
        if call.name.lower() == _LONGEST:
            call.replace(_longest(call))
    for node in list(tree.find_all(exp.Limit)):
        _settle_ties(node.parent)
    return tree


def _is_scalar(select: exp.Select) -> bool:
    """Whether all rows become one: an aggregate, or HAVING, without GROUP BY."""
    if select.args.get("group"):
        return False
    parts = [*select.expressions, *([select.args["order"]] if select.args.get("order") else [])]
    return bool(select.args.get("having")) or any(map(_aggregates, parts))


def _aggregates(node: exp.Expr) -> bool:
    queries = (exp.Select, exp.SetOperation)
    for part in node.walk(prune=lambda each: isinstance(each, queries)):
        named = isinstance(part, exp.Anonymous) and part.name.lower() == _LONGEST
        if isinstance(part, exp.AggFunc) or named:
            return True
    return False


def _is_expression(select: exp.Select) -> bool:
    """Whether the query stands for a value or a condition: there SQL's empty group counts."""
    node: exp.Expr = select
    while isinstance(node.parent, exp.Subquery):
        node = node.parent
    return not isinstance(node.parent, (exp.From, exp.Join, exp.SetOperation, type(None)))


def _refuse_empty(select: exp.Select) -> None:
    """An empty snapshot has no aggregate row at all."""
    test: exp.Expr = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))
    having = select.args.get("having")
    if having is not None:
        test = exp.and_(exp.paren(having.this.copy()), test)
    select.set("having", exp.Having(this=test))


def _longest(call: exp.Anonymous) -> exp.Expr:
    """The text that is largest by length and then by its letters; copies do not matter."""
    text = call.expressions[0]
    text = text.expressions[0] if isinstance(text, exp.Distinct) else text
    key = exp.Tuple(expressions=[exp.Length(this=text.copy()), text.copy()])
    return exp.Anonymous(this="arg_max", expressions=[text.copy(), key])


def _settle_ties(query: exp.Expr | None) -> None:
    """Rows that ORDER BY leaves equal are ordered by their values, NULL first."""
    assert isinstance(query, exp.Query)
    numbers = range(1, len(query.named_selects) + 1)
    ties = [exp.Ordered(this=exp.Literal.number(n), nulls_first=True) for n in numbers]
    order = query.args.get("order")
    terms = [] if order is None else list(order.expressions)
    query.set("order", exp.Order(expressions=[*terms, *ties]))
