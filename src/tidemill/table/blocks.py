"""Query blocks, which grow clause by clause; what does not fit goes around them.

SQL evaluates the clauses of a block in a fixed order. A step that comes later in that order than
all the block has joins the block; else the block becomes a subquery in the FROM of a new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlglot import exp

from tidemill.sql import StreamFunction
from tidemill.table.names import identifier

__all__ = [
    "above",
    "block",
    "entry",
    "has_clauses",
    "is_bare",
    "open_for",
    "renamed",
    "statement",
    "with_clause",
]

_ORDER: Final = (
    *("from_", "joins", "where", "group", "having", "qualify", "expressions", "distinct"),
    *("order", "limit", "offset", "approximate", "shed"),
)
_SET_CLAUSES: Final = ("order", "limit")


def block(source: exp.Expr) -> exp.Select:
    """All of an entry of FROM."""
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=source))


def is_bare(tree: exp.Expr) -> bool:
    """Whether a query is just an entry of FROM."""
    return isinstance(tree, exp.Select) and _clauses(tree) == {"from_"}


def _clauses(tree: exp.Expr) -> set[str]:
    """The clauses of a block that do something."""
    found = {key for key, part in tree.args.items() if part}
    return found - {"expressions"} if tree.expressions == [exp.Star()] else found


def open_for(tree: exp.Expr, clause: str, beside: Sequence[str] = ()) -> exp.Expr:
    """A copy of the block that can take a clause: itself, or one around it.

    It may have clauses that stand `beside`, whatever their order.
    """
    if isinstance(tree, exp.SetOperation) and clause not in _SET_CLAUSES:
        return above(tree)
    late = {each for each in _ORDER[_ORDER.index(clause) :] if each not in beside}
    return above(tree) if _clauses(tree) & late else tree.copy()


def with_clause(tree: exp.Expr, clause: str, part: Any, beside: Sequence[str] = ()) -> exp.Expr:
    """The block with a clause that it has not, or with one more around it."""
    opened = open_for(tree, clause, beside)
    opened.set(clause, part)
    return opened


def above(tree: exp.Expr) -> exp.Select:
    """A block around a query."""
    return block(entry(tree))


def entry(tree: exp.Expr) -> exp.Expr:
    """A query as an entry of FROM; it keeps the name of the only one that it reads."""
    if is_bare(tree):
        found: exp.Expr = tree.args["from_"].this.copy()
        return found
    name = _name(tree)
    alias = exp.TableAlias(this=identifier(name)) if name else None
    return exp.Subquery(this=tree.copy(), alias=alias)


def _name(tree: exp.Expr) -> str:
    if not isinstance(tree, exp.Select) or tree.args.get("joins"):
        return ""
    source: exp.Expr = tree.args["from_"].this
    return source.alias_or_name if isinstance(source, exp.Table | exp.Subquery) else ""


def renamed(tree: exp.Expr, name: str, columns: Sequence[str] = ()) -> exp.Select:
    """A query as an entry with another name, and with names for its columns perhaps."""
    source = entry(tree)
    names = [identifier(column) for column in columns]
    source.set("alias", exp.TableAlias(this=identifier(name), columns=names or None))
    return block(source)


def has_clauses(source: exp.Expr) -> bool:
    """Whether an entry of FROM has a window or a granularity."""
    return any(source.args.get(key) for key in ("stream_window", "granularity"))


def statement(tree: exp.Expr) -> exp.Expr:
    """The query by itself; ISTREAM and its like around a query are one."""
    source = tree.args["from_"].this if is_bare(tree) else None
    if isinstance(source, exp.Table) and isinstance(source.this, StreamFunction):
        inner = source.this.this
        if (
            not has_clauses(source)
            and not source.args.get("alias")
            and not isinstance(inner, exp.Table)
        ):
            return source.this.copy()
    return tree.copy()
