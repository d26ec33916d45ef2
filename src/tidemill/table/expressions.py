"""Expressions over the columns of tables, made with Python's operators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from sqlglot import exp
from sqlglot.errors import ParseError

from tidemill.errors import SqlSyntaxError, TidemillError
from tidemill.sql import Tidemill
from tidemill.table.names import identifier
from tidemill.table.precedence import (
    ATOM,
    COMPARED,
    DISJUNCTION,
    PRODUCT,
    SUM,
    TERM,
    operand,
)
from tidemill.table.trees import (
    Column,
    Tree,
    Value,
    columns_of,
    conjunction,
    order_of,
    ordered,
    query_of,
    value_of,
)

__all__ = ["Expr"]

Frame = tuple[int | None, int | None]
"""The ends of a frame, counted from the row: negative ones are before it, None is without end."""


@dataclass(frozen=True, eq=False, repr=False)
class Expr(Tree):
    """An expression: a column, a value, or what is computed of them.

    In operators, a text is a value; where a column is expected, it is the name of one.

    >>> price = Expr(exp.column("price"))
    >>> (price * 2 + 1 > 10) & ~price.is_null()
    Expr('price * 2 + 1 > 10 AND NOT price IS NULL')
    """

    def __repr__(self) -> str:
        return f"Expr({self.tree.sql(dialect=Tidemill)!r})"

    def __bool__(self) -> NoReturn:
        help = "write & for and, | for or, ~ for not, each side in parentheses; no chains a < b < c"
        raise TidemillError("whether an expression is true is known for rows only", help=help)

    __iter__ = None  # what has elements would be listed without end

    def __eq__(self, other: Value) -> Expr:  # type: ignore[override]
        return self._compared(exp.EQ, other)

    def __ne__(self, other: Value) -> Expr:  # type: ignore[override]
        return self._compared(exp.NEQ, other)

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: Value) -> Expr:
        return self._compared(exp.LT, other)

    def __le__(self, other: Value) -> Expr:
        return self._compared(exp.LTE, other)

    def __gt__(self, other: Value) -> Expr:
        return self._compared(exp.GT, other)

    def __ge__(self, other: Value) -> Expr:
        return self._compared(exp.GTE, other)

    def __and__(self, other: Value) -> Expr:
        return Expr(conjunction(self.tree, value_of(other)))

    def __rand__(self, other: Value) -> Expr:
        return Expr(conjunction(value_of(other), self.tree))

    def __or__(self, other: Value) -> Expr:
        return _binary(exp.Or, self.tree, value_of(other), DISJUNCTION)

    def __ror__(self, other: Value) -> Expr:
        return _binary(exp.Or, value_of(other), self.tree, DISJUNCTION)

    def __invert__(self) -> Expr:
        return Expr(exp.Not(this=operand(self.tree, COMPARED)))

    def __add__(self, other: Value) -> Expr:
        return _binary(exp.Add, self.tree, value_of(other), SUM)

    def __radd__(self, other: Value) -> Expr:
        return _binary(exp.Add, value_of(other), self.tree, SUM)

    def __sub__(self, other: Value) -> Expr:
        return _binary(exp.Sub, self.tree, value_of(other), SUM)

    def __rsub__(self, other: Value) -> Expr:
        return _binary(exp.Sub, value_of(other), self.tree, SUM)

    def __mul__(self, other: Value) -> Expr:
        return _binary(exp.Mul, self.tree, value_of(other), PRODUCT)

    def __rmul__(self, other: Value) -> Expr:
        return _binary(exp.Mul, value_of(other), self.tree, PRODUCT)

    def __truediv__(self, other: Value) -> Expr:
        return _quotient(self.tree, value_of(other))

    def __rtruediv__(self, other: Value) -> Expr:
        return _quotient(value_of(other), self.tree)

    def __mod__(self, other: Value) -> Expr:
        return _binary(exp.Mod, self.tree, value_of(other), PRODUCT)

    def __rmod__(self, other: Value) -> Expr:
        return _binary(exp.Mod, value_of(other), self.tree, PRODUCT)

    def __neg__(self) -> Expr:
        return Expr(exp.Neg(this=operand(self.tree, ATOM)))

    def __getitem__(self, key: Value) -> Expr:
        """An element of a list, or the value of a key in a map."""
        return Expr(exp.Bracket(this=operand(self.tree, ATOM), expressions=[value_of(key)]))

    def field(self, name: str) -> Expr:
        """A field of a struct."""
        return Expr(exp.Dot(this=operand(self.tree, ATOM), expression=identifier(name)))

    def alias(self, name: str) -> Expr:
        """The expression under a name."""
        return Expr(exp.Alias(this=self.tree.copy(), alias=identifier(name)))

    def cast(self, to: str) -> Expr:
        """The value as another type: `"DECIMAL(10, 2)"`."""
        return Expr(exp.Cast(this=self.tree.copy(), to=_type(to)))

    def try_cast(self, to: str) -> Expr:
        """The value as another type, or NULL where it is none of that type."""
        return Expr(exp.TryCast(this=self.tree.copy(), to=_type(to)))

    def is_null(self) -> Expr:
        """Whether there is no value."""
        return Expr(exp.Is(this=operand(self.tree, SUM), expression=exp.Null()))

    def is_not_null(self) -> Expr:
        """Whether there is a value."""
        return ~self.is_null()

    def equals(self, other: Value) -> Expr:
        """Whether both are equal, where NULL equals NULL: `<=>`."""
        return Expr(_compared(exp.NullSafeEQ, self.tree, value_of(other)))

    def between(self, low: Value, high: Value) -> Expr:
        """Whether the value is in a range, its ends included."""
        ends = {"low": operand(value_of(low), SUM), "high": operand(value_of(high), SUM)}
        return Expr(exp.Between(this=operand(self.tree, SUM), **ends))

    def like(self, pattern: Value) -> Expr:
        """Whether a text is like a pattern with `%` and `_`."""
        return Expr(_compared(exp.Like, self.tree, value_of(pattern)))

    def isin(self, among: Any) -> Expr:
        """Whether the value is one of several, or in the only column of a table."""
        this = operand(self.tree, SUM)
        if isinstance(among, Iterable) and not isinstance(among, str):
            values = [value_of(each) for each in among]
            return Expr(exp.In(this=this, expressions=values) if values else exp.false())
        return Expr(exp.In(this=this, query=exp.Subquery(this=query_of(among))))

    def asc(self, nulls: Literal["first", "last"] = "first") -> Expr:
        """The key of an order, the smallest first."""
        return Expr(ordered(self.tree, nulls=nulls))

    def desc(self, nulls: Literal["first", "last"] = "last") -> Expr:
        """The key of an order, the largest first."""
        return Expr(ordered(self.tree, desc=True, nulls=nulls))

    def filter(self, *conditions: Expr) -> Expr:
        """An aggregate over the rows that meet conditions only."""
        where = exp.Where(this=conjunction(*map(value_of, conditions)))
        return Expr(exp.Filter(this=self.tree.copy(), expression=where))

    def within_group(self, *order: Column) -> Expr:
        """An aggregate of values in an order: `WITHIN GROUP (ORDER BY ...)`."""
        return Expr(exp.WithinGroup(this=self.tree.copy(), expression=order_of(order)))

    def ignore_nulls(self) -> Expr:
        """A function over rows that looks at those with a value only."""
        return Expr(exp.IgnoreNulls(this=self.tree.copy()))

    def over(
        self,
        partition_by: Column | Sequence[Column] = (),
        order_by: Column | Sequence[Column] = (),
        *,
        rows: Frame | None = None,
        groups: Frame | None = None,
    ) -> Expr:
        """A function over the rows around each row; `rows=(-2, 0)` is it and the two before.

        >>> Expr(exp.column("price")).over("item", rows=(None, 0))
        Expr('price OVER (PARTITION BY item ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)')
        """
        order = _listed(order_by)
        window = exp.Window(
            this=self.tree.copy(),
            partition_by=columns_of(_listed(partition_by)),
            order=order_of(order) if order else None,
            over="OVER",
        )
        for kind, frame in (("ROWS", rows), ("GROUPS", groups)):
            if frame is not None:
                window.set("spec", _frame(kind, frame))
        return Expr(window)

    def _compared(self, kind: type[exp.Binary], other: Value) -> Expr:
        if other is None:
            help = "write .is_null() or .is_not_null(); .equals(x) takes NULL for equal to NULL"
            raise TidemillError("a comparison with None is never true", help=help)
        return Expr(_compared(kind, self.tree, value_of(other)))


def _compared(kind: type[exp.Expr], left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return kind(this=operand(left, SUM), expression=operand(right, SUM))


def _binary(kind: type[exp.Binary], left: exp.Expr, right: exp.Expr, level: int) -> Expr:
    return Expr(kind(this=operand(left, level), expression=operand(right, level + 1)))


def _quotient(left: exp.Expr, right: exp.Expr) -> Expr:
    sides = {"this": operand(left, PRODUCT), "expression": operand(right, TERM)}
    # As the parser says that `/` is: with a fraction, and an error for zero is the engine's.
    return Expr(exp.Div(**sides, typed=Tidemill.TYPED_DIVISION, safe=Tidemill.SAFE_DIVISION))


def _listed(columns: Column | Sequence[Column]) -> Sequence[Column]:
    return columns if isinstance(columns, list | tuple) else (columns,)


def _frame(kind: str, frame: Frame) -> exp.WindowSpec:
    (start, start_side), (end, end_side) = (
        _end(at, side) for at, side in zip(frame, ("PRECEDING", "FOLLOWING"), strict=True)
    )
    ends = {"start": start, "start_side": start_side, "end": end, "end_side": end_side}
    return exp.WindowSpec(kind=kind, **ends)


def _end(at: int | None, side: str) -> tuple[str | exp.Expr, str | None]:
    if at is None:
        return "UNBOUNDED", side
    if at == 0:
        return "CURRENT ROW", None
    return exp.Literal.number(abs(at)), "PRECEDING" if at < 0 else "FOLLOWING"


def _type(text: str) -> exp.DataType:
    try:
        return exp.DataType.build(text, dialect=Tidemill)
    except ParseError:
        help = "write for example BIGINT, DOUBLE, STRING, TIMESTAMP or DECIMAL(10, 2)"
        raise SqlSyntaxError(f"unknown type `{text}`", help=help) from None
