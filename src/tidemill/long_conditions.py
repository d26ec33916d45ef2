"""Long and deep conditions: terms joined by AND or OR, as trees that are as flat as can be."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from sqlglot import exp

STACK: Final = 8000
"""So many calls inside each other read 200 levels of parentheses, at 25 a level."""

# What walks trees calls itself, here and in sqlglot, in all processes that compute expressions.
sys.setrecursionlimit(max(sys.getrecursionlimit(), STACK))

_LONG = 32
"""So many terms are as deep as they are written; more of them are put in halves."""

Connector = type[exp.And] | type[exp.Or]


def joined(kind: Connector, terms: Sequence[exp.Expr]) -> exp.Expr:
    """Terms joined by AND or OR; many of them as a tree that is no deeper than need be.

    >>> from sqlglot import parse_one
    >>> joined(exp.And, [parse_one("a"), parse_one("b OR c")]).sql()
    'a AND (b OR c)'
    """
    if len(terms) <= _LONG:
        return (exp.and_ if kind is exp.And else exp.or_)(*terms, copy=False)
    return _halved(kind, [_wrapped(term) for term in terms])


def flatten_conditions(tree: exp.Expr) -> exp.Expr:
    """The tree, where no long condition is as deep as it has terms.

    Of parentheses that hold nothing but parentheses, one pair is left.
    """
    for paren in list(tree.find_all(exp.Paren)):
        while isinstance(paren.this, exp.Paren):
            paren.set("this", paren.this.this)
    for node in list(tree.find_all(exp.And, exp.Or)):
        if type(node.parent) is not type(node):
            terms = list(node.flatten(unnest=False))
            if len(terms) > _LONG:
                whole = _halved(type(node), terms)
                node.set("this", whole.this)
                node.set("expression", whole.expression)
    return tree


def _halved(kind: type[exp.Expr], terms: Sequence[exp.Expr]) -> exp.Expr:
    if len(terms) == 1:
        return terms[0]
    middle = len(terms) // 2
    return kind(this=_halved(kind, terms[:middle]), expression=_halved(kind, terms[middle:]))


def _wrapped(term: exp.Expr) -> exp.Expr:
    return exp.Paren(this=term) if isinstance(term, exp.Connector) else term
