"""Small tools for syntax trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.scalar import column_node
from tidemill.algebra.types import name_of
from tidemill.copying import bare, copied
from tidemill.errors import PlanError
from tidemill.long_conditions import joined
from tidemill.sql import Tidemill, error_at, position_of

QUERIES = (exp.Select, exp.SetOperation, exp.Subquery)
COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
Rewrite = Callable[[exp.Expr], exp.Expr | None]


def rewrite(node: exp.Expr, change: Rewrite) -> exp.Expr:
    """A copy with parts replaced, from the top; subqueries stay as they are.

    `change` answers None to leave a node and go on with its parts.

    >>> from sqlglot import parse_one
    >>> tree = parse_one("a + (SELECT a FROM t)")
    >>> change = lambda node: exp.column("b") if isinstance(node, exp.Column) else None
    >>> rewrite(tree, change).sql()
    'b + (SELECT a FROM t)'
    """
    replacement = change(node)
    if replacement is not None:
        return replacement
    if isinstance(node, QUERIES):
        return copied(node)
    copy = bare(node)
    for key, value in node.args.items():
        if isinstance(value, list):
            parts = [rewrite(v, change) if isinstance(v, exp.Expr) else v for v in value]
            copy.set(key, parts)
        else:
            copy.set(key, rewrite(value, change) if isinstance(value, exp.Expr) else value)
    return copy


def outside_subqueries(node: exp.Expr) -> Iterator[exp.Expr]:
    """All nodes of an expression, not entering its subqueries."""
    return node.walk(prune=lambda part: isinstance(part, QUERIES))


def has_subquery(node: exp.Expr) -> bool:
    """Whether an expression contains a query."""
    return any(isinstance(part, QUERIES) for part in node.walk())


def columns_of(node: exp.Expr) -> set[str]:
    """The plan columns that a bound expression reads."""
    return {part.name for part in outside_subqueries(node) if isinstance(part, exp.Column)}


def conjuncts_of(node: exp.Expr | None) -> list[exp.Expr]:
    """The parts of a predicate that must all hold."""
    if node is None:
        return []
    node = node.unnest()
    if isinstance(node, exp.And):
        return [*conjuncts_of(node.left), *conjuncts_of(node.right)]
    return [node]


def all_of(nodes: Iterable[exp.Expr]) -> exp.Expr | None:
    """The conjunction; None if there is nothing to join."""
    parts = [copied(node) for node in nodes]
    return joined(exp.And, parts) if parts else None


def placed(name: str, origin: exp.Expr) -> exp.Column:
    """A reference to a plan column that stands where the user wrote something else."""
    node = column_node(name)
    metas = [part.meta for part in origin.walk() if "start" in part.meta]
    if metas:
        first = min(metas, key=lambda meta: int(meta["start"]))
        last = max(metas, key=lambda meta: int(meta["end"]))
        node.this.meta.update({**first, "end": last["end"]})
    return node


def typed_null(data_type: pa.DataType) -> exp.Expr:
    """NULL as a value of the type."""
    return cast(exp.Null(), data_type)


def cast(node: exp.Expr, data_type: pa.DataType) -> exp.Expr:
    """The expression turned into a type."""
    if pa.types.is_null(data_type):
        return node
    return exp.Cast(this=node, to=exp.DataType.build(name_of(data_type), dialect="spark"))


def written(node: exp.Expr) -> str:
    """The expression as the user wrote it, or close to that.

    >>> from tidemill.sql import parse_one
    >>> written(parse_one("SELECT count( * ) FROM bid").tree.expressions[0])
    'count( * )'
    """
    canonical = node.sql(dialect=Tidemill) if not isinstance(node, exp.Column) else node.name
    text = source_text(node)
    if isinstance(node, exp.Column):
        return text or canonical
    # Positions leave out leading keywords such as CASE: then the text is not the whole.
    return text if _squeezed(text) == _squeezed(canonical) else canonical


def source_text(node: exp.Expr) -> str:
    """The text at the position of a node; empty if it has none."""
    place = error_at(PlanError, "", node) if position_of(node) else None
    if place is None or place.sql is None or place.line is None or place.column is None:
        return ""
    line = place.sql.split("\n")[place.line - 1]
    return line[place.column - 1 : place.column - 1 + (place.length or 0)]


def _squeezed(text: str) -> str:
    return "".join(text.split()).casefold()
