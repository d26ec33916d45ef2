"""ROLLUP, CUBE and GROUPING SETS: the rows of several groupings, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, product

from sqlglot import exp

from tidemill.errors import UnsupportedError
from tidemill.sql import error_at

MOST_SETS = 64
"""Each set is a query of its own."""

_OUTSIDE = ("with_", "order", "limit", "offset", "approximate")
_TRAILING = ("rollup", "cube")
_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)

Keys = tuple[exp.Expr, ...]


def grouping_sets(select: exp.Select) -> list[Keys] | None:
    """What each grouping groups by, if the query has more than one.

    >>> from sqlglot import parse_one
    >>> query = parse_one("SELECT a FROM t GROUP BY ROLLUP (a, b), c")
    >>> [[key.sql() for key in keys] for keys in grouping_sets(query)]
    [['a', 'b', 'c'], ['a', 'c'], ['c']]
    """
    group = select.args.get("group")
    if group is None:
        return None
    parts = _parts(group)
    if not any(isinstance(part, _SETS) for part in parts):
        return None
    choices = [_choices(part) for part in parts]
    sets = [_unique(key for keys in chosen for key in keys) for chosen in product(*choices)]
    if len(sets) > MOST_SETS:
        message = f"GROUP BY makes {len(sets)} groupings, more than {MOST_SETS}"
        raise error_at(UnsupportedError, message, group, "list the ones you need: GROUPING SETS")
    return sets


def one_query_each(select: exp.Select, sets: Sequence[Keys]) -> exp.Expr:
    """The union of one query per grouping set, ordered and cut as the query was."""
    every = _unique([*_announced(select), *(key for keys in sets for key in keys)])
    queries: list[exp.Expr] = [_with_keys(select, keys, every) for keys in sets]
    whole = queries[0]
    for query in queries[1:]:
        whole = exp.Union(this=whole, expression=query, distinct=bool(select.args.get("distinct")))
    if len(queries) == 1 and any(select.args.get(name) for name in _OUTSIDE):
        whole = exp.Subquery(this=whole)
    for name in _OUTSIDE:
        if select.args.get(name):
            whole.set(name, select.args[name].copy())
    return whole


def _announced(select: exp.Select) -> list[exp.Expr]:
    """The keys before GROUPING SETS; one that is in no set is NULL."""
    group = select.args["group"]
    return list(group.expressions) if group.args.get("grouping_sets") else []


def _parts(group: exp.Group) -> list[exp.Expr]:
    """The parts of GROUP BY.

    `GROUP BY a, b WITH ROLLUP` is ROLLUP (a, b). In `GROUP BY a, b GROUPING SETS (...)`, without a
    comma, the names only announce what the sets have.
    """
    if alone := group.args.get("grouping_sets"):
        return list(alone)
    trailing = [node for name in _TRAILING for node in group.args.get(name) or ()]
    for node in trailing:
        if not node.expressions:
            return [type(node)(expressions=list(group.expressions))]
    return [*group.expressions, *trailing]


def _choices(node: exp.Expr) -> list[Keys]:
    """The lists of keys that one part of GROUP BY stands for."""
    if isinstance(node, exp.GroupingSets):
        return [keys for part in node.expressions for keys in _choices(part)]
    if not isinstance(node, _SETS):
        return [_keys(node)]
    parts = [_keys(part) for part in node.expressions]
    if isinstance(node, exp.Rollup):
        chosen = [tuple(parts[:size]) for size in range(len(parts), -1, -1)]
    else:
        sizes = range(len(parts), -1, -1)
        chosen = [some for size in sizes for some in combinations(parts, size)]
    return [tuple(key for keys in some for key in keys) for some in chosen]


def _keys(node: exp.Expr) -> Keys:
    if isinstance(node, exp.Tuple):
        return tuple(node.expressions)
    return (node.unnest(),)


def _unique(keys: Iterable[exp.Expr]) -> Keys:
    return tuple(dict.fromkeys(keys))


def _with_keys(select: exp.Select, keys: Keys, every: Keys) -> exp.Select:
    query = select.copy()
    for name in _OUTSIDE:
        query.set(name, None)
    query.set("group", exp.Group(expressions=[key.copy() for key in keys]))
    query.set("absent", [key.copy() for key in every if key not in keys])
    return query
