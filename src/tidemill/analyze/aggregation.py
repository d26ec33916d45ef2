"""GROUP BY, and the aggregates of a query block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import Aggregate, AggregateCall, Distinct, Plan, Project, Scalar, column
from tidemill.algebra.aggregates import NotAggregable, result_type
from tidemill.algebra.types import name_of
from tidemill.analyze.functions import (
    AGGREGATES,
    ALIASES,
    SUPPORTED,
    find_aggregate,
    is_aggregate,
    name_of_call,
)
from tidemill.analyze.stage import Stage
from tidemill.analyze.trees import all_of, placed, rewrite, typed_null, written
from tidemill.errors import PlanError, UnsupportedError
from tidemill.sql import error_at


@dataclass
class Grouping:
    """Collects what a block groups by and aggregates, while its expressions are rewritten.

    `prepare` makes an argument or key plain: it plans the subqueries in it.
    """

    base: Stage
    prepare: Callable[[exp.Expr], exp.Expr]
    carried: tuple[str, ...] = ()
    keys: dict[str, exp.Expr] = field(default_factory=dict)
    calls: dict[str, AggregateCall] = field(default_factory=dict)
    absent: list[exp.Expr] = field(default_factory=list)  # keys of the other grouping sets
    _computed: dict[str, Scalar] = field(default_factory=dict)

    def add_key(self, node: exp.Expr) -> None:
        """Group by a bound expression too."""
        node = self.prepare(node.unnest())
        if node not in self.keys.values():
            self.keys[self._name(node, "key")] = node

    def add_absent(self, node: exp.Expr) -> None:
        """An expression that only other grouping sets group by: it is NULL in this one."""
        node = self.prepare(node.unnest())
        if node not in self.keys.values():
            self.absent.append(node)

    def translate(self, node: exp.Expr) -> exp.Expr:
        """A bound expression over the rows, made one over the groups."""
        return rewrite(node, self._change)

    def _change(self, node: exp.Expr) -> exp.Expr | None:
        for name, key in self.keys.items():
            if node == key:
                return placed(name, node)
        if node in self.absent:
            return typed_null(self.base.scalar(node).type)
        if isinstance(node, exp.Grouping | exp.GroupingId):
            return self._indicator(node)
        if is_aggregate(node, self.base.context.catalog):
            return placed(self._call(node), node)
        if isinstance(node, exp.Column) and node.name not in self.carried:
            shown = node.name if (text := written(node)).endswith("*") else text
            message = f"`{shown}` is neither grouped nor aggregated"
            help = "add it to GROUP BY or wrap it in an aggregate, as in MAX(...)"
            raise error_at(PlanError, message, node, help)
        return None

    def _indicator(self, node: exp.Expr) -> exp.Expr:
        """GROUPING: 1 for a key that this grouping set leaves out; of several, a bit for each."""
        keys = [part.unnest() for part in node.expressions]
        if not keys and isinstance(node, exp.GroupingId):
            keys = [*self.keys.values(), *self.absent]
        bits = "".join(str(int(self._is_absent(key))) for key in keys)
        kind = "TINYINT" if isinstance(node, exp.Grouping) else "BIGINT"
        return exp.cast(exp.Literal.number(int(bits or "0", 2)), kind)

    def _is_absent(self, key: exp.Expr) -> bool:
        if key not in self.absent and key not in self.keys.values():
            message = f"`{written(key)}` is not in GROUP BY"
            raise error_at(PlanError, message, key, "GROUPING takes what GROUP BY lists")
        return key in self.absent

    def _call(self, node: exp.Expr) -> str:
        """The column that an aggregate fills; equal aggregates share one."""
        function, argument, distinct = self._parts(node)
        name = None if argument is None else self._name(argument, "arg")
        if (known := self._known(function, name, distinct)) is not None:
            return known
        user = self.base.context.catalog.aggregates.get(function.lower())
        data_type = user.type if user else self._type(function, name, node)
        new = self.base.context.fresh(function.lower().split("_")[0])
        shown = user.name if user else function
        self.calls[new] = AggregateCall(new, shown, name, data_type, distinct, user)
        return new

    def _known(self, function: str, argument: str | None, distinct: bool) -> str | None:
        wanted = (function.upper(), argument, distinct)
        for name, call in self.calls.items():
            if (call.function.upper(), call.argument, call.distinct) == wanted:
                return name
        return None

    def _parts(self, node: exp.Expr) -> tuple[str, exp.Expr | None, bool]:
        """Function, argument and DISTINCT; FILTER becomes a part of the argument."""
        condition = None
        call = node
        if isinstance(node, exp.Filter):
            call, condition = node.this, node.expression.this
        function = self._function(call)
        argument, distinct = _argument(call)
        nested = find_aggregate(argument, self.base.context.catalog) if argument else None
        if nested is not None:
            message = f"`{name_of_call(nested)}` stands inside another aggregate"
            help = "aggregate in a subquery in FROM first"
            raise error_at(PlanError, message, nested, help)
        if condition is not None:
            argument = _only_where(argument, condition)
        if function == "COUNT" and not distinct and _never_null(argument):
            argument = None
        if argument is None and function != "COUNT":
            help = f"name a column: {function}(...)"
            raise error_at(PlanError, f"{function} does not take `*`", call, help)
        argument = None if argument is None else self.prepare(argument.unnest())
        return function, argument, distinct and function not in ("MIN", "MAX")

    def _function(self, node: exp.Expr) -> str:
        name = name_of_call(node).lower()
        if name in self.base.context.catalog.aggregates:
            return name
        function = ALIASES.get(name) or AGGREGATES.get(type(node))
        if function is None:
            users = [user.name for user in self.base.context.catalog.aggregates.values()]
            message = f"the aggregate `{name_of_call(node)}` is not supported"
            help = f"there are {', '.join([SUPPORTED, *users])}"
            raise error_at(UnsupportedError, message, node, help)
        return function

    def _type(self, function: str, argument: str | None, node: exp.Expr) -> pa.DataType:
        found = None if argument is None else self._column(argument).type
        try:
            return result_type(function, found)
        except NotAggregable:
            message = f"{function} does not take {name_of(found)}"
            help = (
                "COUNT takes every type" if found is None else "convert it with CAST, or COUNT it"
            )
            raise error_at(PlanError, message, node, help) from None

    def _name(self, node: exp.Expr, prefix: str) -> str:
        """The column that holds an expression; a plain column holds itself."""
        if isinstance(node, exp.Column):
            return node.name
        scalar = self.base.scalar(node)
        for name, known in self._computed.items():
            if known.node == scalar.node:
                return name
        name = self.base.context.fresh(prefix)
        self._computed[name] = scalar
        return name

    def _column(self, name: str) -> Scalar:
        if name in self._computed:
            return self._computed[name]
        return column(name, self.base.schema[name])

    def build(self) -> Plan:
        """The plan with one row per group."""
        keys = tuple(dict.fromkeys((*self.carried, *self.keys)))
        if not self.calls and not keys:  # HAVING alone: one group of everything
            self.calls["count"] = AggregateCall("count", "COUNT", None, pa.int64())
        if not self.calls:
            items = tuple((name, self._column(name)) for name in keys)
            return Distinct(Project(self.base.plan, items))
        return Aggregate(self._input(keys), keys, tuple(self.calls.values()))

    def _input(self, keys: tuple[str, ...]) -> Plan:
        if not self._computed:
            return self.base.plan
        arguments = (call.argument for call in self.calls.values() if call.argument is not None)
        names = dict.fromkeys((*keys, *arguments))
        return Project(self.base.plan, tuple((name, self._column(name)) for name in names))


def _argument(call: exp.Expr) -> tuple[exp.Expr | None, bool]:
    parts = call.expressions if isinstance(call, exp.Anonymous) else [call.this, *call.expressions]
    distinct = len(parts) == 1 and isinstance(parts[0], exp.Distinct)
    parts = parts[0].expressions if distinct else parts
    if len(parts) == 1 and isinstance(parts[0], exp.Star):
        return None, False
    if len(parts) > 1 and isinstance(call, exp.Count):
        return _together(parts, distinct), distinct
    if len(parts) != 1:
        message = f"`{name_of_call(call)}` takes one argument"
        raise error_at(UnsupportedError, message, call, "write one call for each")
    return parts[0], distinct


def _together(parts: list[exp.Expr], distinct: bool) -> exp.Expr:
    """The arguments of COUNT as one: it counts the rows in which none of them is NULL."""
    known = all_of(exp.Not(this=exp.Is(this=part.copy(), expression=exp.null())) for part in parts)
    assert known is not None
    value = exp.Struct(expressions=[part.copy() for part in parts]) if distinct else None
    return _only_where(value, known)


def _only_where(argument: exp.Expr | None, condition: exp.Expr) -> exp.Expr:
    """Aggregates leave NULLs out, so FILTER is a CASE without ELSE."""
    value = exp.Literal.number(1) if argument is None else argument.copy()
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=value)])


def _never_null(argument: exp.Expr | None) -> bool:
    return argument is None or isinstance(argument.unnest(), exp.Literal | exp.Boolean)


@dataclass
class GroupedStage(Stage):
    """The stage above an aggregation: its expressions see groups, not rows."""

    grouping: Grouping | None = None

    def find(self, column: exp.Column, strict: bool = False) -> exp.Expr | None:
        assert self.grouping is not None
        found = self.scope.resolve(column) if strict else self.scope.find(column)
        return None if found is None else self.grouping.translate(found)
