"""Tables: queries that are made step by step, in Python, and are what SQL would say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from sqlglot import exp

from tidemill.errors import TidemillError, nearest
from tidemill.sql import Approximate, Shed, Tidemill, parse_one
from tidemill.table import blocks
from tidemill.table.expressions import Expr
from tidemill.table.grouping import Grouped, named
from tidemill.table.names import column_named, identifier
from tidemill.table.streams import StreamSteps
from tidemill.table.trees import Column, columns_of, conjunction, order_of, value_of

__all__ = ["TableExpr"]

How = Literal["inner", "left", "right", "full", "semi", "anti", "cross"]

_SIDES = {
    "inner": {},
    "left": {"side": "LEFT"},
    "right": {"side": "RIGHT"},
    "full": {"side": "FULL"},
    "semi": {"side": "LEFT", "kind": "SEMI"},
    "anti": {"side": "LEFT", "kind": "ANTI"},
    "cross": {"kind": "CROSS"},
}


@dataclass(frozen=True, repr=False, eq=False)
class TableExpr(StreamSteps):
    """A query in the making; every method gives another one.

    >>> from tidemill.table import col, count, named_table
    >>> bids = named_table("bid").window(range="5 minutes")
    >>> bids.filter(col("price") > 10).group_by("item").agg(n=count()).sql
    'SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 5 MINUTES) WHERE price > 10 GROUP BY item'
    """

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.sql!r})"

    __iter__ = None  # what has elements would be listed without end

    def __getitem__(self, name: str) -> Expr:
        """A column of this table, where others have one of this name: `b["price"]`."""
        source = blocks.entry(self.tree)
        table = source.alias_or_name
        if not table:
            help = f'write .alias("t")["{name}"]'
            raise TidemillError("a table needs a name before its columns have one", help=help)
        return Expr(column_named(f"{table}.{name}"))

    @property
    def statement_tree(self) -> exp.Expr:
        """The syntax tree of the query."""
        return blocks.statement(self.tree)

    @property
    def sql(self) -> str:
        """The query as SQL says it; errors show their place in it."""
        try:
            return self.statement_tree.sql(dialect=Tidemill)
        except RecursionError:
            help = "split the query with CREATE STREAM ... AS"
            raise TidemillError("the statement is nested too deeply", help=help) from None

    def alias(self, name: str, *columns: str) -> Self:
        """The table under a name, with names for its columns perhaps."""
        return self._with(blocks.renamed(self.tree, name, columns))

    def filter(self, *conditions: Expr) -> Self:
        """The rows that meet all conditions."""
        return self._narrowed("where", exp.Where, conditions)

    def having(self, *conditions: Expr) -> Self:
        """The groups that meet all conditions."""
        # The aggregates of a group are known before its columns are.
        return self._narrowed("having", exp.Having, conditions, beside=("expressions",))

    def qualify(self, *conditions: Expr) -> Self:
        """The rows that meet conditions on functions with `over`."""
        return self._narrowed("qualify", exp.Qualify, conditions)

    def select(self, *columns: Column, **named_columns: Column) -> Self:
        """These columns, by name, as expressions, or as `name=expression`."""
        return self._with(
            blocks.with_clause(self.tree, "expressions", named(columns, named_columns))
        )

    def with_columns(self, *columns: Column, **named_columns: Column) -> Self:
        """All columns, and more."""
        return self.select("*", *columns, **named_columns)

    def replace_columns(self, **named_columns: Column) -> Self:
        """All columns, some with other values."""
        return self.select(Expr(exp.Star(replace=named((), named_columns))))

    def drop(self, *names: str) -> Self:
        """All columns but these."""
        return self.select(Expr(exp.Star(except_=columns_of(names))))

    def join(
        self,
        other: TableExpr,
        on: Expr | str | Sequence[str] | None = None,
        how: How = "inner",
        *,
        lateral: bool = False,
    ) -> Self:
        """Pairs of rows that hold at the same time and meet a condition.

        `on` may be the names of columns that both have. With `lateral`, `other` may name columns
        of this table.
        """
        if how not in _SIDES:
            near = nearest(how, _SIDES)
            help = f"did you mean `{near}`?" if near else f"joins: {', '.join(_SIDES)}"
            raise TidemillError(f"unknown kind of join `{how}`", help=help)
        source = _lateral(other) if lateral else blocks.entry(other.tree)
        made = exp.Join(this=source, **_SIDES[how], **_condition(on, how))
        opened = blocks.open_for(self.tree, "joins", beside=("joins",))
        opened.append("joins", made)
        return self._with(opened)

    def group_by(self, *keys: Column, **named_keys: Column) -> Grouped[Self]:
        """The table in groups, by columns, expressions, or `rollup`, `cube`, `grouping_sets`."""
        return Grouped(self, named(keys, named_keys))

    def agg(self, *columns: Column, **named_columns: Column) -> Self:
        """Aggregates of all rows."""
        return self.block(named(columns, named_columns), [])

    def block(self, shown: list[exp.Expr], keys: list[exp.Expr]) -> Self:
        """The columns that are computed of groups."""
        opened = blocks.open_for(self.tree, "group")
        opened.set("expressions", shown)
        opened.set("group", exp.Group(expressions=keys) if keys else None)
        return self._with(opened)

    def distinct(self) -> Self:
        """Every row at most once per instant."""
        return self._with(blocks.with_clause(self.tree, "distinct", exp.Distinct()))

    def order_by(self, *keys: Column) -> Self:
        """The order in which rows are seen, or that of `limit`: `col("price").desc()`."""
        # A block with DISTINCT is ordered by its columns only, not by what is computed of them.
        is_distinct = isinstance(self.tree, exp.Select) and self.tree.args.get("distinct")
        tree = blocks.above(self.tree) if is_distinct else self.tree
        return self._with(blocks.with_clause(tree, "order", order_of(keys), ("order",)))

    def limit(self, rows: int, offset: int = 0, *, approximate: bool | float = False) -> Self:
        """The first rows of every instant; mostly, if they may be `approximate`."""
        opened = blocks.with_clause(self.tree, "limit", exp.Limit(expression=value_of(rows)))
        if offset:
            opened.set("offset", exp.Offset(expression=value_of(offset)))
        if approximate:
            sure = None if approximate is True else exp.Literal.number(str(approximate))
            opened.set("approximate", Approximate(confidence=sure))
        return self._with(opened)

    def shed(self, rows: int, *by: Column, using: str = "dgl", **parameters: float) -> Self:
        """The answer of a join that keeps only some rows, the most important `by` something."""
        given = [
            exp.Kwarg(this=exp.to_identifier(name), expression=exp.Literal.number(str(value)))
            for name, value in parameters.items()
        ]
        made = Shed(rows=value_of(rows), expressions=columns_of(by), policy=using, parameters=given)
        return self._with(blocks.with_clause(self.tree, "shed", made))

    def hint(self, text: str) -> Self:
        """What you know of the streams, as in SQL: `hint("RATE(bid, 1000)")`."""
        read = parse_one(f"SELECT /*+ {text} */ 1").tree
        tree = self.tree if isinstance(self.tree, exp.Select) else blocks.above(self.tree)
        hinted, before = tree.copy(), tree.args.get("hint")
        calls = [*(before.expressions if before else ()), *read.args["hint"].expressions]
        hinted.set("hint", exp.Hint(expressions=calls))
        return self._with(hinted)

    def union(self, other: TableExpr, *, all: bool = False) -> Self:
        """The rows of both."""
        return self._set(exp.Union, other, all)

    def except_(self, other: TableExpr, *, all: bool = False) -> Self:
        """The rows here that are not there."""
        return self._set(exp.Except, other, all)

    def intersect(self, other: TableExpr, *, all: bool = False) -> Self:
        """The rows that are in both."""
        return self._set(exp.Intersect, other, all)

    def scalar(self) -> Expr:
        """The only value of a table that has one column and at most one row, in an expression."""
        return Expr(exp.Subquery(this=self.statement_tree))

    def _narrowed(
        self,
        clause: str,
        kind: type[exp.Expr],
        conditions: Sequence[Expr],
        beside: Sequence[str] = (),
    ) -> Self:
        opened = blocks.open_for(self.tree, clause, (*beside, clause))
        before = opened.args.get(clause)
        trees = [*([before.this] if before else []), *map(value_of, conditions)]
        opened.set(clause, kind(this=conjunction(*trees)))
        return self._with(opened)

    def _set(self, kind: type[exp.SetOperation], other: TableExpr, all: bool) -> Self:
        goes_on = isinstance(self.tree, kind) and self.tree.args["distinct"] is not all
        left = _side(self.tree, goes_on)
        return self._with(kind(this=left, expression=_side(other.tree), distinct=not all))


def _side(tree: exp.Expr, goes_on: bool = False) -> exp.Expr:
    """One side of a set operation: a block without ends, or one that goes on with the same."""
    ends = any(tree.args.get(key) for key in ("order", "limit", "shed"))
    is_set = isinstance(tree, exp.SetOperation) and not goes_on
    return blocks.above(tree) if ends or is_set else blocks.statement(tree)


def _lateral(other: TableExpr) -> exp.Lateral:
    source = blocks.entry(other.tree)
    is_query = isinstance(source, exp.Subquery) and not blocks.has_clauses(source)
    inner = source.this if is_query else blocks.block(source)
    alias = source.args.get("alias")
    return exp.Lateral(this=exp.Subquery(this=inner), view=False, outer=False, alias=alias)


def _condition(on: Expr | str | Sequence[str] | None, how: str) -> dict[str, Any]:
    if isinstance(on, Expr):
        return {"on": value_of(on)}
    if on is None:
        return {} if how in ("cross", "inner") else {"on": exp.true()}
    names = [on] if isinstance(on, str) else on
    return {"using": [identifier(name) for name in names]}
