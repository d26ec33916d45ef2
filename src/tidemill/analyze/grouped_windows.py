"""`GROUP BY TUMBLE(ts, INTERVAL '10' MINUTE)`: Flink's older way, put in the words of Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from tidemill.analyze.trees import rewrite
from tidemill.catalog.catalog import Catalog

_KINDS: Final = {"tumble": "window", "hop": "window", "session": "session_window"}
_ENDS: Final = {"start": "start", "end": "end", "rowtime": "time"}


def as_calls(select: exp.Select, clauses: Sequence[str], catalog: Catalog) -> exp.Select:
    """The query with `window(...)` in the place of TUMBLE, HOP and what belongs to them.

    >>> from sqlglot import parse_one
    >>> query = parse_one("SELECT HOP_END(ts, 5, 10) FROM t GROUP BY HOP(ts, 5, 10)")
    >>> made = as_calls(query, ("expressions", "group"), Catalog())
    >>> made.sql("spark", normalize_functions="lower")
    'SELECT window(ts, 10, 5).end FROM t GROUP BY window(ts, 10, 5)'
    """

    def change(node: exp.Expr) -> exp.Expr | None:
        return _call(node, catalog) if isinstance(node, exp.Anonymous) else None

    query: exp.Select | None = None
    for clause in clauses:
        value = select.args.get(clause)
        parts = value if isinstance(value, list) else [value] if value else []
        if any(change(node) is not None for part in parts for node in part.find_all(exp.Anonymous)):
            query = select.copy() if query is None else query
            changed = [rewrite(part, change) for part in parts]
            query.set(clause, changed if isinstance(value, list) else changed[0])
    return select if query is None else query


def _call(node: exp.Anonymous, catalog: Catalog) -> exp.Expr | None:
    name = node.name.lower()
    kind, _, end = name.partition("_")
    if name in catalog.functions:
        return None
    if name == "window_time" and len(node.expressions) == 1:
        return _last_instant(node)
    if kind not in _KINDS or (end and end not in _ENDS):
        return None
    call = exp.Anonymous(this=_KINDS[kind], expressions=_arguments(kind, node))
    call.meta.update(node.meta)
    if not end:
        return call
    return exp.Dot(this=call, expression=exp.to_identifier(_ENDS[end]))


def _arguments(kind: str, node: exp.Anonymous) -> list[exp.Expr]:
    time, *sizes = node.expressions or [exp.null()]
    if kind == "hop" and len(sizes) > 1:  # the slide comes first
        sizes[:2] = sizes[1], sizes[0]
    return [part.copy() for part in (time, *sizes)]


def _last_instant(node: exp.Anonymous) -> exp.Expr:
    """`window_time(window)`: the last instant of a window, which the query may have made itself."""
    window = node.expressions[0]
    name: exp.Expr
    if isinstance(window, exp.Column) and not window.table:
        name = exp.column("end", table=window.this.copy())
    else:
        name = exp.Dot(this=window.copy(), expression=exp.to_identifier("end"))
    name.meta.update(node.meta)
    unit = exp.var("MICROSECOND")
    return exp.TimestampAdd(this=name, expression=exp.Literal.number(-1), unit=unit)
