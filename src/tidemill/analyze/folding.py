"""Conditions with known parts, simplified by the rules of three-valued logic."""

from __future__ import annotations

from sqlglot import exp

from tidemill.analyze.trees import rewrite

TRUE, FALSE, NULL = exp.true(), exp.false(), exp.null()


def fold(node: exp.Expr) -> exp.Expr:
    """The same condition with TRUE, FALSE and NULL worked in.

    >>> from sqlglot import parse_one
    >>> fold(parse_one("a > 1 AND NOT (FALSE OR NULL)")).sql(), fold(parse_one("a OR TRUE")).sql()
    ('a > 1 AND NULL', 'TRUE')
    """
    if isinstance(node, exp.Paren):
        inner = fold(node.this)
        return inner if _is_known(inner) else exp.Paren(this=inner)
    if isinstance(node, exp.Not):
        return _negated(fold(node.this))
    if isinstance(node, exp.And):
        return _joined(exp.And, fold(node.left), fold(node.right), TRUE, FALSE)
    if isinstance(node, exp.Or):
        return _joined(exp.Or, fold(node.left), fold(node.right), FALSE, TRUE)
    if isinstance(node, exp.Case) and node.this is None:
        return _case(node)
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        inner = fold(node.this)
        return (
            exp.convert(inner == NULL) if _is_known(inner) else exp.Is(this=inner, expression=NULL)
        )
    return rewrite(node, lambda part: None if part is node else fold(part))


def as_filter(node: exp.Expr) -> exp.Expr:
    """A condition that accepts the same rows: in a filter, NULL rejects as FALSE does.

    >>> from sqlglot import parse_one
    >>> as_filter(parse_one("a > 1 OR NULL")).sql(), as_filter(parse_one("a > 1 AND NULL")).sql()
    ('a > 1', 'FALSE')
    """
    return _accepting(fold(node))


def _accepting(node: exp.Expr) -> exp.Expr:
    """The same for a condition that was folded."""
    node = node.unnest()
    if node == NULL:
        return FALSE.copy()
    if isinstance(node, exp.And):
        return _joined(exp.And, _accepting(node.left), _accepting(node.right), TRUE, FALSE)
    if isinstance(node, exp.Or):
        return _joined(exp.Or, _accepting(node.left), _accepting(node.right), FALSE, TRUE)
    return node


def _is_known(node: exp.Expr) -> bool:
    return isinstance(node, exp.Boolean | exp.Null)


def _negated(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Boolean):
        return exp.convert(not node.this)
    return node if node == NULL else exp.Not(this=node)


def _joined(
    kind: type[exp.And] | type[exp.Or],
    left: exp.Expr,
    right: exp.Expr,
    neutral: exp.Expr,
    strong: exp.Expr,
) -> exp.Expr:
    if strong in (left, right):
        return strong.copy()
    if left == neutral or (left == NULL and right == NULL):
        return right
    if right == neutral:
        return left
    return kind(this=_wrapped(kind, left), expression=_wrapped(kind, right))


def _wrapped(kind: type[exp.Expr], node: exp.Expr) -> exp.Expr:
    return exp.Paren(this=node) if kind is exp.And and isinstance(node, exp.Or) else node


def _case(node: exp.Case) -> exp.Expr:
    """Drop the branches that cannot be taken, and those after one that always is."""
    branches: list[exp.Expr] = []
    default = node.args.get("default") or exp.null()
    for branch in node.args["ifs"]:
        condition = fold(branch.this)
        if condition == TRUE:
            default = branch.args["true"]
            break
        if not _is_known(condition):
            branches.append(exp.If(this=condition, true=fold(branch.args["true"])))
    default = fold(default)
    return exp.Case(ifs=branches, default=default) if branches else default
