"""Which operators bind how tightly, so that a tree is written with the parentheses it needs."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

__all__ = [
    "ATOM",
    "COMPARED",
    "CONJUNCTION",
    "DISJUNCTION",
    "PRODUCT",
    "SUM",
    "TERM",
    "operand",
]

DISJUNCTION, CONJUNCTION, NEGATION, COMPARED, SUM, PRODUCT, TERM, ATOM = range(1, 9)

_LEVELS: Final[tuple[tuple[type[exp.Expr], int], ...]] = (
    (exp.Or, DISJUNCTION),
    (exp.And, CONJUNCTION),
    (exp.Not, NEGATION),
    (exp.SubqueryPredicate, ATOM),
    (exp.Predicate, COMPARED),
    (exp.Add, SUM),
    (exp.Sub, SUM),
    (exp.Mul, PRODUCT),
    (exp.Div, PRODUCT),
    (exp.Mod, PRODUCT),
    (exp.Neg, TERM),
    (exp.Dot, ATOM),
    (exp.Binary, 0),  # others come from texts only, and are put into parentheses everywhere
    (exp.Lambda, 0),
    (exp.Interval, TERM),
)


def operand(tree: exp.Expr, least: int) -> exp.Expr:
    """A tree as the operand of an operator that takes what binds at `least` so tightly.

    >>> operand(exp.column("a") + 1, PRODUCT).sql(), operand(exp.column("a") + 1, SUM).sql()
    ('(a + 1)', 'a + 1')
    """
    level = next((level for kind, level in _LEVELS if isinstance(tree, kind)), ATOM)
    return tree.copy() if level >= least else exp.Paren(this=tree.copy())
