"""One tree for what can be spelled in several ways: rows that are compared, lists of patterns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sqlglot import exp

from tidemill.long_conditions import Connector, joined

__all__ = ["settle"]

Pairs = list[tuple[exp.Expr, exp.Expr]]

_EQUAL: Final[dict[type[exp.Expr], Connector]] = {
    exp.EQ: exp.And,
    exp.NEQ: exp.Or,
    exp.NullSafeEQ: exp.And,
    exp.NullSafeNEQ: exp.Or,
}
_STRICT: Final[dict[type[exp.Expr], type[exp.Expr]]] = {
    exp.LT: exp.LT,
    exp.LTE: exp.LT,
    exp.GT: exp.GT,
    exp.GTE: exp.GT,
}
_MEMBERS: Final = ((exp.EQ, exp.Any), (exp.NEQ, exp.All))


def settle(tree: exp.Expr) -> None:
    """Give equal meanings equal trees, in place.

    >>> from sqlglot import parse_one
    >>> tree = parse_one("SELECT a FROM t WHERE (a, b) IN ((1, 2)) AND c LIKE ANY ('x%', 'y%')")
    >>> settle(tree)
    >>> tree.args["where"].sql()
    "WHERE (a = 1 AND b = 2) AND (c LIKE 'x%' OR c LIKE 'y%')"
    """
    # From the inside: what is around may take its parts several times.
    for node in reversed(list(tree.find_all(*_RULES))):
        if (meant := _RULES[type(node)](node)) is not None:
            meant.meta.update(node.meta)
            node.replace(meant)


def _comparison(node: exp.Expr) -> exp.Expr | None:
    left, right = node.args["this"].unnest(), _all(node.args["expression"].unnest())
    if isinstance(right, exp.Any | exp.All):
        return _of_array(node, left, right)
    if not (isinstance(left, exp.Tuple) and isinstance(right, exp.Tuple)):
        return None
    return _rows(type(node), left, right)


def _all(node: exp.Expr) -> exp.Expr:
    """ALL before something else than a subquery is a function for sqlglot, while ANY is not."""
    if (
        isinstance(node, exp.Anonymous)
        and node.name.upper() == "ALL"
        and len(node.expressions) == 1
    ):
        return exp.All(this=node.expressions[0])
    return node


def _rows(kind: type[exp.Expr], left: exp.Tuple, right: exp.Tuple) -> exp.Expr | None:
    """Rows are compared column by column, as SQL says."""
    if not left.expressions or len(left.expressions) != len(right.expressions):
        return None
    pairs = list(zip(left.expressions, right.expressions, strict=True))
    if kind in _EQUAL:
        return _closed(_EQUAL[kind], [_compared(kind, pair) for pair in pairs])
    cases = [
        _case(kind, pairs[: place + 1], place + 1 == len(pairs)) for place in range(len(pairs))
    ]
    return _closed(exp.Or, cases)


def _case(kind: type[exp.Expr], pairs: Pairs, last: bool) -> exp.Expr:
    """Rows that differ first in the last of these columns."""
    *equal, deciding = pairs
    terms = [_compared(exp.EQ, pair) for pair in equal]
    return joined(exp.And, [*terms, _compared(kind if last else _STRICT[kind], deciding)])


def _compared(kind: type[exp.Expr], pair: tuple[exp.Expr, exp.Expr]) -> exp.Expr:
    return kind(this=pair[0].copy(), expression=pair[1].copy())


def _closed(kind: Connector, terms: Sequence[exp.Expr]) -> exp.Expr:
    whole = joined(kind, list(terms))
    return whole if isinstance(whole, exp.Paren) else exp.Paren(this=whole)


def _in(node: exp.Expr) -> exp.Expr | None:
    """A row in a list of rows, and a value or a row in VALUES."""
    left, rows = node.this.unnest(), node.expressions
    if len(rows) == 1 and isinstance(rows[0], exp.Values):
        rows = rows[0].expressions
        if not isinstance(left, exp.Tuple):
            return _in_values(left, rows)
    if not isinstance(left, exp.Tuple) or not rows:
        return None
    found = [_rows(exp.EQ, left, row) if isinstance(row, exp.Tuple) else None for row in rows]
    cases = [case for case in found if case is not None]
    return _closed(exp.Or, cases) if len(cases) == len(rows) else None


def _in_values(left: exp.Expr, rows: Sequence[exp.Expr]) -> exp.Expr | None:
    cells = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in rows]
    if any(len(row) != 1 for row in cells):
        return None
    return exp.In(this=left.copy(), expressions=[row[0].copy() for row in cells])


def _like(node: exp.Expr) -> exp.Expr | None:
    """LIKE ANY and LIKE ALL of patterns that are spelled out."""
    patterns = _listed(node.expression)
    if not patterns or isinstance(node.parent, exp.Escape):
        return None
    negated = {"negate": True} if node.args.get("negate") else {}
    terms = [
        type(node)(this=node.this.copy(), expression=pattern.copy(), **negated)
        for pattern in patterns
    ]
    return _closed(exp.Or if isinstance(node.expression, exp.Any) else exp.And, terms)


def _listed(node: exp.Expr) -> list[exp.Expr] | None:
    if not isinstance(node, exp.Any | exp.All):
        return None
    inner = node.this
    if isinstance(inner, exp.Tuple):
        return list(inner.expressions)
    return [inner.this] if isinstance(inner, exp.Paren) else None


def _of_array(node: exp.Expr, left: exp.Expr, right: exp.Expr) -> exp.Expr | None:
    """`= ANY (array)`: an array has no order of its own, so others need its elements."""
    inner = right.this.unnest() if isinstance(right.this, exp.Paren) else right.this
    if isinstance(inner, exp.Array) and inner.expressions:
        terms = [_compared(type(node), (left, each)) for each in inner.expressions]
        return _closed(exp.Or if isinstance(right, exp.Any) else exp.And, terms)
    if (type(node), type(right)) not in _MEMBERS or not isinstance(inner, exp.Column | exp.Dot):
        return None
    found = exp.ArrayContains(this=inner.copy(), expression=left.copy())
    return found if isinstance(node, exp.EQ) else exp.Not(this=found)


def _exists(node: exp.Expr) -> exp.Expr | None:
    """EXISTS of an array and a function is no subquery."""
    function = node.args.get("expression")
    if not isinstance(function, exp.Lambda):
        return None
    return exp.Anonymous(this="exists", expressions=[node.this.copy(), function.copy()])


def _limit(node: exp.Expr) -> None:
    """LIMIT ALL is no limit."""
    if isinstance(node.args.get("expression"), exp.Var):
        node.pop()


def _group(node: exp.Expr) -> None:
    """GROUP BY () makes one group of everything, as HAVING alone does."""
    others = [value for name, value in node.args.items() if value and name != "expressions"]
    if others or any(not _is_nothing(key) for key in node.expressions) or not node.expressions:
        return
    query = node.parent
    node.pop()
    if query is not None and not query.args.get("having"):
        query.set("having", exp.Having(this=exp.true()))


def _is_nothing(key: exp.Expr) -> bool:
    return isinstance(key, exp.Tuple) and not key.expressions


_RULES: Final[dict[type[exp.Expr], Callable[[exp.Expr], exp.Expr | None]]] = {
    **dict.fromkeys((*_EQUAL, *_STRICT), _comparison),
    exp.In: _in,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Exists: _exists,
    exp.Limit: _limit,
    exp.Group: _group,
}
