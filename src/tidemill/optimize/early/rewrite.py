"""A query that aggregates a join, with some inputs of the join aggregated before it.

An early aggregate groups its input by all columns that the rest of the query looks at one by one,
so that rows of a group go the same way. The late aggregate weighs what it gets: a row stands for
as many as the counts of its early parts say. Rows of an outer join that lack a partner stand for
one row of NULLs there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.aggregates import SUM_EXACT, SUM_HIGH, SUM_LOW, AggregateCall
from tidemill.algebra.nodes import Aggregate, Filter, Project
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar, column
from tidemill.algebra.sets import Union
from tidemill.analyze.trees import cast
from tidemill.optimize.early.arms import Arm, joined_over
from tidemill.optimize.early.query import AggregateJoin
from tidemill.optimize.early.rule import ROWS, Partial, early_aggregate

Mask = Sequence[bool]


def _parts_of_sum(argument: pa.DataType) -> dict[str, pa.DataType]:
    """The functions that tell a sum without rounding, and what is needed to weigh it."""
    if pa.types.is_integer(argument):
        return dict.fromkeys(("COUNT", SUM_LOW, SUM_HIGH), pa.int64())
    return {"COUNT": pa.int64(), SUM_EXACT: pa.binary()}


def early_plan(query: AggregateJoin, mask: Mask) -> Plan:
    """The query with those of its inputs aggregated early that the mask says."""
    return _Rewriting(query, mask).plan()


class _Rewriting:
    def __init__(self, query: AggregateJoin, mask: Mask) -> None:
        self._query = query
        self._early = [number for number, wanted in enumerate(mask) if wanted]
        self._added: list[AggregateCall] = []  # what the late aggregate reads of early ones

    def plan(self) -> Plan:
        query = self._query
        if not self._early:
            return query.aggregate
        inputs = [
            self._aggregated(number) if number in self._early else child
            for number, child in enumerate(query.inputs)
        ]
        calls = tuple(map(self._late, query.calls))
        arms = [self._arm(arm, inputs) for arm in query.arms]
        if len(arms) > 1:
            reads = dict.fromkeys(name for call in calls for name in sorted(call.reads))
            names = dict.fromkeys((*query.aggregate.keys, *reads))
            arms = [self._with_columns(arm, list(names)) for arm in arms]
        return Aggregate(reduce(Union, arms), query.aggregate.keys, calls)

    def _arm(self, arm: Arm, inputs: Sequence[Plan]) -> Plan:
        """An arm over other inputs."""
        places = [self._query.inputs.index(child) for child in arm.inputs]
        child: Plan = joined_over(arm.base, iter([inputs[place] for place in places]))
        for node in reversed(arm.between):
            child = self._passed(node, child)
        return child

    def _with_columns(self, arm: Plan, names: Sequence[str]) -> Plan:
        """The arm with the columns that all arms must have."""
        lacking = {call.name: _of_nothing(call) for call in self._added}
        items = (
            (name, column(name, arm.schema[name]) if name in arm.schema else lacking[name])
            for name in names
        )
        return Project(arm, tuple(items))

    def _aggregated(self, number: int) -> Plan:
        child, query = self._query.inputs[number], self._query
        single = query.join_columns | query.group_columns | query.single_columns
        groups = [name for name in child.schema.names if name in single]
        own = [call for call in query.calls if self._input_of(call) == number]
        sources = [replace(call, argument=query.source(call)) for call in own]
        rule = early_aggregate(child.schema.names, groups, (), sources)
        calls = [part for partial in rule.partials for part in self._calls(partial, number, child)]
        unique = tuple({call.name: call for call in calls}.values())
        self._added += unique
        return Aggregate(child, rule.groups, unique)

    def _calls(self, partial: Partial, number: int, child: Plan) -> Iterator[AggregateCall]:
        """The calls that give a partial result; a sum takes two or three."""
        name = _name(partial, number)
        if partial == ROWS:
            yield AggregateCall(name, "COUNT", None, pa.int64())
            return
        assert partial.argument is not None
        if partial.function == "SUM":
            for function, kind in _parts_of_sum(child.schema[partial.argument]).items():
                part = replace(partial, function=function)
                yield AggregateCall(_name(part, number), function, partial.argument, kind)
            return
        count = partial.function == "COUNT"
        kind = pa.int64() if count else child.schema[partial.argument]
        yield AggregateCall(name, partial.function, partial.argument, kind)

    def _passed(self, node: Project | Filter, child: Plan) -> Plan:
        """An operator between, over a child that has more columns for the late aggregate."""
        if isinstance(node, Filter):
            return Filter(child, node.predicate)
        kept = [item for item in node.items if item[1].columns <= set(child.schema.names)]
        added = (call for call in self._added if call.name in child.schema)
        return Project(
            child, (*kept, *((call.name, column(call.name, call.type)) for call in added))
        )

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
        source = self._query.source(call)
        assert source is not None
        functions = _parts_of_sum(self._query.schema[source])
        parts = tuple(self._part(call, own, function) for function in functions)
        return replace(call, argument=None, parts=parts, weights=weights)

    def _part(self, call: AggregateCall, number: int, function: str | None = None) -> str:
        return _name(Partial(function or call.function, self._query.source(call)), number)


def _name(partial: Partial, number: int) -> str:
    """The column of a partial result of an input."""
    return f"#early{number}.{partial}"


def _of_nothing(part: AggregateCall) -> Scalar:
    """A partial result in rows that have no partner there: one row, in which all is NULL."""
    if part.function == "COUNT":
        value: exp.Expr = exp.Literal.number(int(part.argument is None))
    else:
        value = exp.Null()
    return Scalar(cast(value, part.type), part.type)
