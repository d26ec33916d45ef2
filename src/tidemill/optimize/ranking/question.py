"""Queries for the first groups by a score: ORDER BY score DESC LIMIT k over GROUP BY."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from tidemill.algebra.aggregates import AggregateCall
from tidemill.algebra.nodes import (
    Aggregate,
    CountWindow,
    Project,
    SortKey,
    TimeWindow,
    TopK,
)
from tidemill.algebra.plan import Plan, operands
from tidemill.algebra.scalar import Scalar, column
from tidemill.algebra.sets import Union
from tidemill.analyze.boundedness import validity
from tidemill.optimize.sharing import Shared

Items = tuple[tuple[str, Scalar], ...]

_FUNCTIONS: Final = ("SUM", "MAX", "COUNT")


class NotRanked(Exception):
    """The query is of another form; the message says in which way."""


@dataclass(frozen=True)
class Question:
    """Which objects are first? `branches` have the rows of the streams as they come."""

    top: TopK
    items: Items
    keys: tuple[str, ...]
    calls: tuple[AggregateCall, ...]
    branches: tuple[Plan, ...]
    size: int | None
    rows: int | None

    @property
    def score(self) -> Scalar:
        return dict(self.items)[self.top.order[0].column]


def question_of(plan: Plan) -> Question | None:
    """The question that a plan asks; None if it has no first groups at all.

    One that cannot be answered by ranking objects raises `NotRanked`.
    """
    if not isinstance(plan, TopK) or not plan.order:
        return None
    items, grouped = _items(plan.child)
    if not isinstance(grouped, Aggregate) or not grouped.keys:
        return None
    branches, size, rows = _windows(grouped.child)
    question = Question(
        plan, items, _ordered(items, grouped.keys), grouped.calls, branches, size, rows
    )
    _check_calls(question)
    _check_order(question)
    return question


def _items(plan: Plan) -> tuple[Items, Plan]:
    """What a plan computes from the groups below it."""
    items: Items = tuple((f.name, column(f.name, f.type)) for f in plan.schema)
    while isinstance(plan, Project):
        below = dict(plan.items)
        items = tuple((name, scalar.substitute(below)) for name, scalar in items)
        plan = plan.child
    return items, plan


def _ordered(items: Items, keys: tuple[str, ...]) -> tuple[str, ...]:
    """The keys, those first that the result shows: in its order, which decides between equals."""
    shown = [scalar.node.name for _, scalar in items if scalar.is_column]
    first = [name for name in dict.fromkeys(shown) if name in keys]
    return (*first, *(key for key in keys if key not in first))


def _windows(plan: Plan) -> tuple[tuple[Plan, ...], int | None, int | None]:
    """The streams below one window, of time or of rows."""
    if isinstance(plan, CountWindow):
        if plan.slide != 1 or plan.partition_by or plan.rows is None or not plan.is_fixed:
            raise NotRanked("its window is not simply the last rows")
        return tuple(_instants(each) for each in operands(plan.child, Union)), None, plan.rows
    leaves = list(operands(plan, Union))
    windows = [leaf for leaf in leaves if isinstance(leaf, TimeWindow)]
    sizes = {(leaf.size, leaf.slide == 1, leaf.delay, leaf.is_fixed) for leaf in windows}
    if len(windows) < len(leaves) or len(sizes) > 1:
        raise NotRanked("its streams have no common window")
    ((size, moves, delay, is_fixed),) = sizes
    if size is None or not moves or delay or not is_fixed:
        raise NotRanked("its window is not simply of one size")
    below = [each for leaf in windows for each in operands(leaf.child, Union)]
    return tuple(_instants(each) for each in below), size, None


def _instants(plan: Plan) -> Plan:
    if not validity(whole(plan)).instant:
        raise NotRanked("rows below its window hold longer than an instant")
    return plan


def whole(plan: Plan) -> Plan:
    """The plan with the parts that it shares with others, to look at."""
    return plan.rewrite(lambda part: whole(part.part) if isinstance(part, Shared) else part)


def _check_calls(question: Question) -> None:
    for call in question.calls:
        plain = not (call.distinct or call.user or call.weights or call.parts)
        if call.function not in _FUNCTIONS or not plain:
            raise NotRanked(f"{call.function} is not SUM, MAX or COUNT")
        if not _is_simple(call.type):
            raise NotRanked(f"{call.function} gives {call.type}")
    if not _is_simple(question.score.type):
        raise NotRanked(f"its score is {question.score.type}")


def _is_simple(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind)) or kind == pa.float64()


def _check_order(question: Question) -> None:
    """Equals must be told apart by the object: results are, by their columns from the left."""
    order, items = question.top.order, question.items
    first = order[0]
    if not first.descending or first.nulls_first:
        raise NotRanked("the largest score does not come first")
    calls = {call.name for call in question.calls}
    if not question.score.columns or not question.score.columns <= calls:
        raise NotRanked("its score is not made of aggregates alone")
    shown = [(name, s) for name, s in items if name != first.column]
    keys = [(name, s) for name, s in shown if s.is_column and s.node.name in question.keys]
    others = [each for each in shown if each not in keys]
    if shown[: len(keys)] != keys or any(not s.columns <= calls for _, s in others):
        raise NotRanked("columns before those of the object are computed")
    if others and len({s.node.name for _, s in keys}) < len(question.keys):
        raise NotRanked("not all columns of the object are selected")
    rest = tuple(SortKey(name) for name, _ in keys)
    if order[1:] and order[1:] != rest[: len(order) - 1]:
        raise NotRanked("equal scores have an order of their own")
