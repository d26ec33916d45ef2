"""Copies of syntax trees that share what tells where a part stands in a text."""

from __future__ import annotations

from sqlglot import exp


def bare(node: exp.Expr) -> exp.Expr:
    """A node of the same kind at the same place, without its parts."""
    copy = type(node)()
    if node.comments is not None:
        copy.comments = list(node.comments)
    if node._type is not None:
        copy._type = node._type
    if node._meta is not None:
        copy._meta = dict(node._meta)
    return copy


def copied(tree: exp.Expr) -> exp.Expr:
    """A copy of a tree.

    >>> from sqlglot import parse_one
    >>> copied(parse_one("a IN (1, 2) AND b")).sql()
    'a IN (1, 2) AND b'
    """
    root = bare(tree)
    waiting = [(tree, root)]
    while waiting:
        node, copy = waiting.pop()
        for key, value in node.args.items():
            if isinstance(value, exp.Expr):
                part = bare(value)
                copy.set(key, part)
                waiting.append((value, part))
            elif isinstance(value, list):
                parts = [bare(each) if isinstance(each, exp.Expr) else each for each in value]
                copy.set(key, parts)
                pairs = zip(value, parts, strict=True)
                waiting += ((old, new) for old, new in pairs if isinstance(old, exp.Expr))
            else:
                copy.args[key] = value
    return root
