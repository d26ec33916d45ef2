"""Long conditions: terms joined by AND or OR, as flat trees."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

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
    """The tree, where no long condition is as deep as it has terms."""
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
