"""GROUP BY, and the aggregates of a query block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import Aggregate, AggregateCall, Distinct, Plan, Project, Scalar, column
from tidemill.algebra.aggregates import EXTREMES, NotAggregable, result_type
from tidemill.algebra.types import name_of
from tidemill.analyze.aggregate_calls import Call, only_where, plain_call, read_call
from tidemill.analyze.functions import SUPPORTED, find_aggregate, is_aggregate, name_of_call
from tidemill.analyze.stage import PlanStage
from tidemill.analyze.trees import cast, placed, rewrite, typed_null, written
from tidemill.errors import PlanError, UnsupportedError
from tidemill.sql import error_at
from tidemill.sql.elsewhere import FUNCTIONS


@dataclass
class Grouping:
    """Collects what a block groups by and aggregates, while its expressions are rewritten.

    `prepare` makes an argument or key plain: it plans the subqueries in it.
    """

    base: PlanStage
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
            return self._answer(self._call(node), node)
        if isinstance(node, exp.Column) and node.name not in self.carried:
            shown = node.name if (text := written(node)).endswith("*") else text
            message = f"`{shown}` is neither grouped nor aggregated"
            help = "add it to GROUP BY or wrap it in an aggregate, as in MAX(...)"
            raise error_at(PlanError, message, node, help)
        return None

    def _answer(self, call: str, node: exp.Expr) -> exp.Expr:
        """The column of a call; a list of no values is empty, not NULL."""
        column = placed(call, node)
        if self.calls[call].function != "COLLECT_LIST":
            return column
        empty = cast(exp.Array(expressions=[]), self.calls[call].type)
        return exp.Coalesce(this=column, expressions=[empty])

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
        call = self._prepared(node)
        name = None if call.argument is None else self._name(call.argument, "arg")
        user = self.base.context.catalog.aggregates.get(call.function.lower())
        data_type = user.type if user else self._type(call, name, node)
        shown = user.name if user else call.function
        new = AggregateCall("", shown, name, data_type, call.distinct, user, options=call.options)
        for known in self.calls.values():
            if replace(known, name="") == new:
                return known.name
        fresh = self.base.context.fresh(call.function.lower().split("_")[0])
        self.calls[fresh] = replace(new, name=fresh)
        return fresh

    def _prepared(self, node: exp.Expr) -> Call:
        """The call, with a plain argument; FILTER becomes a part of that."""
        condition = None
        if isinstance(node, exp.Filter):
            node, condition = node.this, node.expression.this
        call = self._read(node)
        argument = call.argument
        nested = find_aggregate(argument, self.base.context.catalog) if argument else None
        if nested is not None:
            message = f"`{name_of_call(nested)}` stands inside another aggregate"
            help = "aggregate in a subquery in FROM first"
            raise error_at(PlanError, message, nested, help)
        if condition is not None:
            argument = only_where(argument, condition)
        if call.function == "COUNT" and not call.distinct and _never_null(argument):
            argument = None
        if argument is None and call.function != "COUNT":
            help = f"name a column: {call.function}(...)"
            raise error_at(PlanError, f"{call.function} does not take `*`", node, help)
        argument = None if argument is None else self.prepare(argument.unnest())
        distinct = call.distinct and call.function not in EXTREMES
        return replace(call, argument=argument, distinct=distinct)

    def _read(self, node: exp.Expr) -> Call:
        name = name_of_call(node).lower()
        if name in self.base.context.catalog.aggregates:
            return plain_call(name, node)
        call = read_call(node)
        if call is None:
            users = [user.name for user in self.base.context.catalog.aggregates.values()]
            message = f"the aggregate `{name_of_call(node)}` is not supported"
            help = f"there are {', '.join([*SUPPORTED, *users])}"
            help = FUNCTIONS.get(name, help)
            raise error_at(UnsupportedError, message, node, help)
        return call

    def _type(self, call: Call, argument: str | None, node: exp.Expr) -> pa.DataType:
        found = None if argument is None else self._column(argument).type
        try:
            return result_type(call.function, found, call.options)
        except NotAggregable:
            message = f"{call.function} does not take {name_of(found)}"
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


def _never_null(argument: exp.Expr | None) -> bool:
    return argument is None or isinstance(argument.unnest(), exp.Literal | exp.Boolean)


@dataclass
class GroupedStage(PlanStage):
    """The stage above an aggregation: its expressions see groups, not rows."""

    grouping: Grouping | None = None

    def find(self, column: exp.Column, strict: bool = False) -> exp.Expr | None:
        assert self.grouping is not None
        found = self.scope.resolve(column) if strict else self.scope.find(column)
        return None if found is None else self.grouping.translate(found)
