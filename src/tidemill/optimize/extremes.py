"""The largest and smallest values of groups, and whether they have any that are NULL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.aggregates import AggregateCall
from tidemill.algebra.nodes import Aggregate, Project
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar, column, column_node, equality
from tidemill.optimize.nulls import never_null

_FLAG = pa.int32()


class ExtremeValues:
    """The values of a side by groups: their extremes, and whether some are NULL."""

    def __init__(self, side: Plan, value: Scalar, keys: Sequence[str]) -> None:
        self._side = side
        self._value = value
        self._keys = tuple(keys)
        self._name = value.node.name if value.is_column else f"#{value}"
        self._calls: dict[str, AggregateCall] = {}
        self._flag = f"#null.{self._name}"

    @property
    def are_known(self) -> bool:
        """Whether none of them is NULL."""
        return never_null(self._value, self._side)

    def of(self, function: str) -> exp.Expr:
        """The column with an extreme."""
        return column_node(self._call(function, self._name, self._value.type))

    def some_unknown(self, wanted: bool) -> Scalar:
        """Whether some of them are NULL, or whether none is."""
        # Counts would change with every row; this changes as seldom as an extreme.
        one = column(self._call("MAX", self._flag, _FLAG), _FLAG)
        return equality(one, Scalar(exp.Literal.number(int(wanted)), _FLAG))

    def _call(self, function: str, argument: str, kind: pa.DataType) -> str:
        name = f"#{function.lower()}.{argument.removeprefix('#')}"
        self._calls[name] = AggregateCall(name, function, argument, kind)
        return name

    def aggregate(self) -> Plan:
        """One row for each group."""
        if not self._calls:
            self.of("MAX")
        return Aggregate(self._input(), self._keys, tuple(self._calls.values()))

    def _input(self) -> Plan:
        needed = {call.argument for call in self._calls.values()}
        if needed <= set(self._side.schema.names):
            return self._side
        return Project(self._side, tuple(self._items(needed)))

    def _items(self, needed: set[str | None]) -> Iterator[tuple[str, Scalar]]:
        for key in self._keys:
            yield key, column(key, self._side.schema[key])
        if self._name in needed:
            yield self._name, self._value
        if self._flag in needed:
            when = exp.If(this=is_null(self._value.node).node, true=exp.Literal.number(1))
            yield self._flag, Scalar(exp.Case(ifs=[when], default=exp.Literal.number(0)), _FLAG)


def is_null(node: exp.Expr) -> Scalar:
    """The test whether an expression is NULL."""
    return Scalar(exp.Is(this=node.copy(), expression=exp.null()), pa.bool_())
