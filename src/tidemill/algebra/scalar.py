"""Scalar expressions of a plan: a sqlglot tree over column names, with its type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
from sqlglot import exp
from sqlglot.generators.spark import SparkGenerator

from tidemill.copying import copied
from tidemill.long_conditions import joined


class _PlanPrinter(SparkGenerator):
    """Spark SQL, with plan columns printed bare: `b.price`, not `` `b.price` ``."""

    def column_sql(self, expression: exp.Column) -> str:
        return expression.name


@dataclass(frozen=True)
class Scalar:
    """A typed expression. Its columns are the plan's own, so they need no scope.

    >>> price = column("b.price", pa.float64())
    >>> Scalar(exp.GT(this=price.node, expression=exp.Literal.number(10)), pa.bool_())
    b.price > 10
    """

    node: exp.Expr
    type: pa.DataType

    @cached_property
    def columns(self) -> frozenset[str]:
        """The plan columns that the expression reads."""
        return frozenset(found.name for found in self.node.find_all(exp.Column))

    @property
    def is_column(self) -> bool:
        return isinstance(self.node, exp.Column)

    def rename(self, names: Mapping[str, str]) -> Scalar:
        """The same expression over renamed columns."""

        def swap(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Column) and node.name in names:
                return column_node(names[node.name])
            return node

        return Scalar(rewrite(self.node, swap), self.type)

    def substitute(self, parts: Mapping[str, Scalar]) -> Scalar:
        """The expression with columns replaced by the expressions that define them."""

        def swap(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Column) and node.name in parts:
                part = copied(parts[node.name].node)
                bare = isinstance(part, (exp.Column, exp.Literal, exp.Cast, exp.Anonymous))
                return part if bare else exp.Paren(this=part)
            return node

        return Scalar(rewrite(self.node, swap), self.type)

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        return _PlanPrinter(dialect="spark").generate(self.node)

    __repr__ = __str__


def rewrite(node: exp.Expr, change: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """A copy of the tree with `change` applied to every node, children first.

    (sqlglot's own `transform` does not look inside what it has replaced.)
    """
    root = exp.Paren(this=copied(node))
    for part in reversed(list(root.this.walk(bfs=True))):
        changed = change(part)
        if changed is not part:
            part.replace(changed)
    result: exp.Expr = root.this.pop()
    return result


def column_node(name: str) -> exp.Column:
    """The tree of a reference to a plan column."""
    return exp.Column(this=exp.Identifier(this=name, quoted=True))


def column(name: str, data_type: pa.DataType) -> Scalar:
    """A reference to a plan column."""
    return Scalar(column_node(name), data_type)


def equality(left: Scalar, right: Scalar, *, null_safe: bool = False) -> Scalar:
    """Whether two expressions are equal; if `null_safe`, so are two NULLs.

    >>> equality(column("a.k", pa.int64()), column("b.k", pa.int64()))
    a.k = b.k
    """
    kind = exp.NullSafeEQ if null_safe else exp.EQ
    return Scalar(kind(this=copied(left.node), expression=copied(right.node)), pa.bool_())


def conjunction(*conditions: Scalar | None) -> Scalar | None:
    """The conditions joined with AND; None if there is none.

    >>> a, b = column("a", pa.bool_()), column("b", pa.bool_())
    >>> conjunction(a, None, b)
    a AND b
    """
    nodes = [copied(condition.node) for condition in conditions if condition is not None]
    return Scalar(joined(exp.And, nodes), pa.bool_()) if nodes else None


def conjuncts(condition: Scalar | None) -> tuple[Scalar, ...]:
    """The parts of a condition that must all hold."""
    if condition is None:
        return ()
    node = condition.node.unnest()
    parts = node.flatten() if isinstance(node, exp.And) else [node]
    return tuple(Scalar(part, pa.bool_()) for part in parts)
