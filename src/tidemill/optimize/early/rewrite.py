"""A query that aggregates a join, with some inputs of the join aggregated before it.

An early aggregate groups its input by all columns that the rest of the query looks at one by one,
so that rows of a group go the same way. The late aggregate weighs what it gets: a row stands for
as many as the counts of its early parts say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa

from tidemill.algebra.aggregates import SUM_HIGH, SUM_LOW, AggregateCall
from tidemill.algebra.nodes import Aggregate, Filter, Join, Project
from tidemill.algebra.plan import Plan, operands
from tidemill.algebra.scalar import Scalar, column
from tidemill.optimize.early.rule import ROWS, Partial, coalesces, early_aggregate
from tidemill.optimize.joins.region import join_conditions

Mask = Sequence[bool]


@dataclass(frozen=True)
class AggregateJoin:
    """An aggregate over joins, with single-row operators between the two, from the top."""

    aggregate: Aggregate
    between: tuple[Project | Filter, ...]
    join: Join

    @staticmethod
    def of(plan: Plan) -> AggregateJoin | None:
        """The plan as such a query, if it is one that can be rewritten."""
        if not isinstance(plan, Aggregate) or any(call.user for call in plan.calls):
            return None
        between: list[Project | Filter] = []
        child = plan.child
        while isinstance(child, Project | Filter):
            between.append(child)
            child = child.child
        return AggregateJoin(plan, tuple(between), child) if isinstance(child, Join) else None

    @cached_property
    def inputs(self) -> tuple[Plan, ...]:
        """What is joined."""
        return tuple(operands(self.join, Join))

    @cached_property
    def conditions(self) -> tuple[Scalar, ...]:
        """What the joins ask for."""
        return tuple(join_conditions(self.join))

    @cached_property
    def join_columns(self) -> frozenset[str]:
        """Columns that conditions of the joins look at."""
        return frozenset(name for condition in self.conditions for name in condition.columns)

    @cached_property
    def group_columns(self) -> frozenset[str]:
        """Columns of the inputs that make the groups of the answer."""
        return self._below(self.aggregate.keys)

    @cached_property
    def single_columns(self) -> frozenset[str]:
        """Columns that are looked at row by row otherwise: by filters, or by computations."""
        computed = [
            scalar.columns
            for node in self.between
            if isinstance(node, Project)
            for _, scalar in node.items
            if not scalar.is_column
        ]
        tested = [node.predicate.columns for node in self.between if isinstance(node, Filter)]
        found = {name for used in (*computed, *tested) for name in used}
        odd = [call.argument for call in self.aggregate.calls if not self.is_early(call)]
        return self._below({*found, *(name for name in odd if name is not None)})

    def is_early(self, call: AggregateCall) -> bool:
        """Whether the call can use partial results: its argument is a column of one input."""
        source = self.source(call)
        return source is not None and _has_parts(call, self.join.schema[source])

    def source(self, call: AggregateCall) -> str | None:
        """The column of an input that the call aggregates, if it is one."""
        name = call.argument
        for node in self.between:
            if name is not None and isinstance(node, Project):
                scalar = dict(node.items)[name]
                name = str(scalar.node.name) if scalar.is_column else None
        return name

    def _below(self, names: Iterable[str]) -> frozenset[str]:
        """The columns of the inputs that these are, or are computed from."""
        found = set(names)
        for node in self.between:
            if isinstance(node, Project):
                items = dict(node.items)
                found = {
                    used
                    for name in found
                    for used in (items[name].columns if name in items else {name})
                }
        return frozenset(found)


def _has_parts(call: AggregateCall, argument: pa.DataType) -> bool:
    """Sums of doubles and decimals have no parts: they would be rounded twice, or overflow."""
    exact = call.function not in ("SUM", "AVG") or pa.types.is_integer(argument)
    return coalesces(call) and exact


def early_plan(query: AggregateJoin, mask: Mask) -> Plan:
    """The query with those of its inputs aggregated early that the mask says."""
    return _Rewriting(query, mask).plan()


class _Rewriting:
    def __init__(self, query: AggregateJoin, mask: Mask) -> None:
        self._query = query
        self._early = [number for number, wanted in enumerate(mask) if wanted]
        self._added: list[str] = []  # columns of early aggregates that the late one reads

    def plan(self) -> Plan:
        if not self._early:
            return self._query.aggregate
        replaced = [
            self._aggregated(number) if number in self._early else child
            for number, child in enumerate(self._query.inputs)
        ]
        child: Plan = _over(self._query.join, iter(replaced))
        for node in reversed(self._query.between):
            child = self._passed(node, child)
        calls = tuple(map(self._late, self._query.aggregate.calls))
        return Aggregate(child, self._query.aggregate.keys, calls)

    def _aggregated(self, number: int) -> Plan:
        child, query = self._query.inputs[number], self._query
        single = query.join_columns | query.group_columns | query.single_columns
        groups = [name for name in child.schema.names if name in single]
        own = [call for call in query.aggregate.calls if self._input_of(call) == number]
        sources = [replace(call, argument=query.source(call)) for call in own]
        rule = early_aggregate(child.schema.names, groups, (), sources)
        calls = [part for partial in rule.partials for part in self._calls(partial, number, child)]
        unique = tuple({call.name: call for call in calls}.values())
        self._added += [call.name for call in unique]
        return Aggregate(child, rule.groups, unique)

    def _calls(self, partial: Partial, number: int, child: Plan) -> Iterator[AggregateCall]:
        """The calls that give a partial result; a sum takes three."""
        name = _name(partial, number)
        if partial == ROWS:
            yield AggregateCall(name, "COUNT", None, pa.int64())
            return
        assert partial.argument is not None
        if partial.function == "SUM":
            for function in ("COUNT", SUM_LOW, SUM_HIGH):
                part = replace(partial, function=function)
                yield AggregateCall(_name(part, number), function, partial.argument, pa.int64())
            return
        count = partial.function == "COUNT"
        kind = pa.int64() if count else child.schema[partial.argument]
        yield AggregateCall(name, partial.function, partial.argument, kind)

    def _passed(self, node: Project | Filter, child: Plan) -> Plan:
        """An operator between, over a child that has more columns for the late aggregate."""
        if isinstance(node, Filter):
            return Filter(child, node.predicate)
        kept = [item for item in node.items if item[1].columns <= set(child.schema.names)]
        added = [(name, column(name, child.schema[name])) for name in self._added]
        return Project(child, (*kept, *added))

    def _input_of(self, call: AggregateCall) -> int | None:
        """The early aggregate that has partial results for the call."""
        if not self._query.is_early(call):
            return None
        source = self._query.source(call)
        found = (n for n in self._early if source in self._query.inputs[n].schema.names)
        return next(found, None)

    def _late(self, call: AggregateCall) -> AggregateCall:
        """The call over what the join gives now."""
        own = self._input_of(call)
        if call.distinct or call.function in ("MIN", "MAX"):
            return call if own is None else replace(call, argument=self._part(call, own))
        weights = tuple(_name(ROWS, number) for number in self._early if number != own)
        if own is None:
            return replace(call, weights=weights)
        if call.function == "COUNT":
            return replace(call, function="SUM", argument=self._part(call, own), weights=weights)
        parts = tuple(self._part(call, own, part) for part in ("COUNT", SUM_LOW, SUM_HIGH))
        return replace(call, argument=None, parts=parts, weights=weights)

    def _part(self, call: AggregateCall, number: int, function: str | None = None) -> str:
        return _name(Partial(function or call.function, self._query.source(call)), number)


def _name(partial: Partial, number: int) -> str:
    """The column of a partial result of an input."""
    return f"#early{number}.{partial}"


def _over(plan: Plan, inputs: Iterator[Plan]) -> Plan:
    """The joins over other inputs."""
    if not isinstance(plan, Join):
        return next(inputs)
    left = _over(plan.left, inputs)
    return Join(left, _over(plan.right, inputs), plan.condition)
