"""The inputs of joins in one order, whichever a query names first."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from tidemill.algebra.plan import Plan
from tidemill.physical.aggregate import AggregateExec
from tidemill.physical.filter import FilterExec
from tidemill.physical.granularity import GranularityExec
from tidemill.physical.join import JoinExec
from tidemill.physical.operator import Exec
from tidemill.physical.project import ProjectExec
from tidemill.physical.time_window import TimeWindowExec

_BY_NAME = (ProjectExec, AggregateExec)
"""Operators that do not care about the order of the columns below."""

_AS_IT_COMES = (JoinExec, FilterExec, TimeWindowExec, GranularityExec)
"""Operators that hand the columns on in the order in which they come."""


def with_ordered_inputs(plan: Exec) -> Exec:
    """The plan with the inputs and keys of its joins in the order of their texts.

    That changes the order of columns, so joins stay as they are where someone may look at it.
    """
    result = _Ordering().plan(plan, free=False)
    assert isinstance(result, Exec)
    return result


class _Ordering:
    def __init__(self) -> None:
        self._done: dict[tuple[int, bool], Plan] = {}

    def plan(self, node: Plan, free: bool) -> Plan:
        """`free` tells whether the columns of the node may be in another order."""
        key = (id(node), free)
        if key not in self._done:
            below = isinstance(node, _BY_NAME) or (free and isinstance(node, _AS_IT_COMES))
            same = node.with_children([self.plan(child, below) for child in node.children])
            ordered = free and isinstance(same, JoinExec)
            self._done[key] = _ordered(same) if ordered else same
        return self._done[key]


def _ordered(join: Plan) -> JoinExec:
    assert isinstance(join, JoinExec)
    order = sorted(range(len(join.inputs)), key=lambda number: str(join.inputs[number]))
    place = {old: new for new, old in enumerate(order)}
    keys = tuple(join.keys[number] for number in order)
    columns = sorted(range(len(join.safe_keys)), key=lambda at: [k[at : at + 1] for k in keys])
    orders, buckets, safe = join.orders, join.buckets, join.null_safe
    return replace(
        join,
        inputs=tuple(join.inputs[number] for number in order),
        keys=tuple(tuple(k[at] for at in columns) if k else () for k in keys),
        conditions=tuple(sorted(join.conditions, key=str)),
        null_safe=tuple(safe[at] for at in columns) if safe else (),
        orders=tuple(tuple(place[old] for old in orders[n]) for n in order) if orders else (),
        buckets=tuple(buckets[number] for number in order) if buckets else (),
    )


class RunningJoins:
    """The joins of a graph by what they give: how they find it is their own choice.

    A new query that asks for the same takes the choice of the join that runs.
    """

    def __init__(self) -> None:
        self._known: dict[Exec, JoinExec] = {}

    def note(self, plan: Exec) -> None:
        """Take note of the joins of a plan that runs."""
        for node in plan.walk():
            if isinstance(node, JoinExec):
                self._known.setdefault(_undecided(node), node)

    def forget_all_but(self, running: Collection[Exec]) -> None:
        """Let go of joins that do not run any more."""
        self._known = {key: join for key, join in self._known.items() if join in running}

    def adopted(self, plan: Exec) -> Exec:
        """The plan with the joins that run in the place of others that give the same."""
        done: dict[int, Plan] = {}

        def visit(node: Plan) -> Plan:
            if id(node) not in done:
                same = node.with_children([visit(child) for child in node.children])
                known = isinstance(same, JoinExec) and self._known.get(_undecided(same))
                done[id(node)] = known or same
            return done[id(node)]

        result = visit(plan)
        assert isinstance(result, Exec)
        return result


def _undecided(join: JoinExec) -> JoinExec:
    return replace(join, orders=(), buckets=())
