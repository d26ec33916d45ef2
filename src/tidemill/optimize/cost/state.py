"""How much our operators remember.

Unlike the text's, they keep no queues of results and no partial aggregates: an aggregation keeps
totals per group and the ends to come, duplicate elimination one number per value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from math import prod
from typing import TypeVar

import pyarrow as pa

from tidemill.algebra import nodes, sets
from tidemill.algebra.over_rows import OverRows
from tidemill.algebra.plan import Plan
from tidemill.algebra.ranking import Ranking
from tidemill.algebra.relations import is_constant, relation_scan
from tidemill.algebra.schema import Schema
from tidemill.algebra.star import StarJoin
from tidemill.algebra.unnest import Unnest
from tidemill.optimize.cost import discrete
from tidemill.optimize.cost.estimates import Estimator
from tidemill.optimize.cost.retained import retained
from tidemill.optimize.sharing import Shared

TEXT_BYTES = 24
"""Of a string or anything else of no fixed size: a short text, and where it begins."""

TOTAL_BYTES = 8
"""Of a running total."""


@dataclass(frozen=True)
class State:
    """Rows, or ends of rows, and keys; the bytes of the columns that are kept with each."""

    rows: float = 0.0
    row_width: float = 0.0
    keys: float = 0.0
    key_width: float = 0.0

    @property
    def total(self) -> float:
        """What the progress of a query counts as rows of state."""
        return self.rows + self.keys


def width(schema: Schema) -> float:
    """Bytes of the columns of a row.

    >>> width(Schema.of(item=pa.int64(), price=pa.float64(), name=pa.string()))
    40.0
    """
    return sum(map(_bytes, schema.types), 0.0)


def _bytes(data_type: pa.DataType) -> float:
    try:
        return float(data_type.bit_width / 8)
    except ValueError:
        return TEXT_BYTES


def state_of(plan: Plan, estimator: Estimator) -> State:
    """What the operator of one node remembers."""
    relation = _looked_up(plan, estimator)
    if relation is not None:
        return State(estimator.live_rows(relation), width(relation.schema))
    return _state(plan, estimator)


@singledispatch
def _state(plan: Plan, estimator: Estimator) -> State:
    raise TypeError(f"the cost model does not know what {type(plan).__name__} keeps")


KINDS: dict[type[Plan], str] = {}
"""Which measured steps nodes of a class take, or of a class below it."""

_StateOf = TypeVar("_StateOf", bound=Callable[..., State])


def _keeps(node: type[Plan], kind: str = "") -> Callable[[_StateOf], _StateOf]:
    """Register what the operator of a node remembers, and which measured steps it takes.

    Reading a source is not counted.
    """

    def register(state: _StateOf) -> _StateOf:
        KINDS.update({node: kind} if kind else {})
        _state.register(node, state)
        return state

    return register


@_keeps(nodes.Scan)
@_keeps(nodes.Filter, "filter")
@_keeps(nodes.Project, "project")
@_keeps(Unnest, "unnest")
@_keeps(nodes.TimeWindow, "time window")
@_keeps(nodes.Granularity, "granularity")
@_keeps(sets.Union, "union")
@_keeps(Shared)
def _nothing(plan: Plan, estimator: Estimator) -> State:
    return State()


@_keeps(nodes.Join, "join")
@_keeps(nodes.MultiJoin, "join")
def _sides(plan: Plan, estimator: Estimator) -> State:
    return _join(plan.children, estimator)


@_keeps(Ranking)  # its steps are those of its strategy
def _ranking(plan: Ranking, estimator: Estimator) -> State:
    rows = retained(plan.ranked, estimator.live_rows(plan.window))
    return State(rows, width(plan.child.schema))


@_keeps(StarJoin, "join")
def _star(plan: StarJoin, estimator: Estimator) -> State:
    kept_rows = _join(plan.streams, estimator)
    return replace(kept_rows, rows=min(kept_rows.rows, plan.shedding.rows))


@_keeps(nodes.Distinct, "distinct")
def _distinct(plan: nodes.Distinct, estimator: Estimator) -> State:
    waiting = ahead(plan.child, estimator) * estimator.rate(plan.child)
    return State(waiting, width(plan.schema), estimator.live_rows(plan), width(plan.schema))


@_keeps(nodes.TopK, "top-k")
@_keeps(OverRows, "over rows")
@_keeps(nodes.Istream, "changes")
@_keeps(nodes.Dstream, "changes")
@_keeps(nodes.Rstream, "split")
def _rows(plan: nodes.Unary, estimator: Estimator) -> State:
    return State(kept(plan.child, estimator), width(plan.schema))


def _looked_up(plan: Plan, estimator: Estimator) -> Plan | None:
    """The side of a join that is only looked up by the rows of the other, if there is one."""
    if not isinstance(plan, nodes.Conditional):
        return None
    sides = [(plan.left, plan.right)]
    if isinstance(plan, nodes.Join):
        sides.append((plan.right, plan.left))
    for other, relation in sides:
        at_once = relation_scan(relation) is not None and estimator.of(other).instants
        if is_constant(relation) or at_once:
            return relation
    return None


def kept(plan: Plan, estimator: Estimator) -> float:
    """Rows of an input that came and have not ended.

    Rows of one instant are gone when their instant is complete.
    """
    stream = estimator.of(plan)
    held = 0.0 if stream.instants else max(stream.length - 1, 0.0)
    return stream.rate * (held + ahead(plan, estimator))


def ahead(plan: Plan, estimator: Estimator) -> float:
    """How long before their start rows come, on average.

    Duplicate elimination gives what is left of a row when it comes, which may start only where
    an earlier one ends; a window that slides lets rows start with its next step, a granularity
    with its next instant.
    """
    match plan:
        case nodes.Distinct():
            return estimator.of(plan.child).length - estimator.of(plan).length
        case nodes.TimeWindow():
            return plan.delay + (plan.slide - 1) / 2
        case nodes.Granularity():
            return (plan.current - 1) / 2
        case nodes.Filter() | nodes.Project() | Unnest():
            return ahead(plan.child, estimator)
    return 0.0


def _join(inputs: Sequence[Plan], estimator: Estimator) -> State:
    rows = [kept(child, estimator) for child in inputs]
    widths = [width(child.schema) for child in inputs]
    total = sum(rows)
    wide = sum(count * each for count, each in zip(rows, widths, strict=True))
    return State(total, wide / total if total else 0.0)


@_keeps(nodes.SemiJoin, "semi-join")
@_keeps(nodes.AntiJoin, "anti-join")
def _matching(plan: nodes.SemiJoin | nodes.AntiJoin, estimator: Estimator) -> State:
    """A join of the left rows with the right ones without duplicates; for an anti-join also a
    difference between the left rows and those that were matched."""
    left, right = kept(plan.left, estimator), kept(plan.right, estimator)
    names = frozenset() if plan.condition is None else plan.condition.columns
    values = estimator.groups(plan.right, names & estimator.names(plan.right))
    before = estimator.of(plan.right)
    partners = discrete.deduplicated(before, values)
    wide = width(plan.schema)
    if isinstance(plan, nodes.SemiJoin):
        return State(left + right, wide, partners.live_rows, wide)
    pairs = left * right * estimator.selectivity(plan.condition, plan.left, plan.right)
    # Half of the partners that come ahead of their start find that the left row has ended then.
    matched = pairs * (1 + partners.length / before.length) / 2
    return State(2 * left + right + matched, wide, partners.live_rows + left, wide)


@_keeps(nodes.Aggregate, "aggregate")
def _aggregate(plan: nodes.Aggregate, estimator: Estimator) -> State:
    totals = TOTAL_BYTES * len(plan.calls)
    keys = width(plan.child.schema.select(plan.keys)) + totals
    return State(kept(plan.child, estimator), totals, estimator.live_rows(plan), keys)


@_keeps(sets.SetOperation, "difference")
def _copies(plan: sets.SetOperation, estimator: Estimator) -> State:
    """The ends of both sides, and every value that either has."""
    values = max(estimator.groups(side, plan.schema.names) for side in plan.children)
    absent = prod(
        1 - discrete.deduplicated(estimator.of(side), values).live_rows / values
        for side in plan.children
    )
    ends = sum(kept(side, estimator) for side in plan.children)
    return State(ends, 0.0, values * (1 - absent), width(plan.schema))


@_keeps(nodes.CountWindow, "count window")
def _count_window(plan: nodes.CountWindow, estimator: Estimator) -> State:
    """The rows of every window, and of the step that is not complete; a number per partition."""
    if plan.current is None:
        return State()
    partitions = estimator.groups(plan.child, plan.partition_by) if plan.partition_by else 1.0
    rows = partitions * (plan.current + (plan.slide - 1) / 2)
    wide = width(plan.schema.select(plan.partition_by))
    return State(rows, width(plan.schema), partitions, wide)


@_keeps(nodes.SessionWindow, "count window")
def _session_window(plan: nodes.SessionWindow, estimator: Estimator) -> State:
    """The rows of all sessions that go on, which are numbered as those of a count window."""
    sessions = estimator.groups(plan.child, plan.partition_by) if plan.partition_by else 1.0
    wide = width(plan.schema.select(plan.partition_by))
    return State(kept(plan, estimator), width(plan.schema), sessions, wide)


def kind_of(node: type[Plan]) -> str:
    """Which measured steps nodes of a class take; none, if it is empty."""
    return next((KINDS[each] for each in node.__mro__ if each in KINDS), "")
