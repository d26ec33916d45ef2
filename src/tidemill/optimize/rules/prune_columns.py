"""Columns that nothing needs.

A part of a plan that occurs several times keeps the columns that any of its uses needs, so that
it stays one part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pyarrow as pa

from tidemill.algebra import nodes, sets
from tidemill.algebra.over_rows import OverRows
from tidemill.algebra.plan import Plan
from tidemill.algebra.ranking import Ranking
from tidemill.algebra.relations import is_changing
from tidemill.algebra.scalar import column
from tidemill.algebra.schema import Schema
from tidemill.algebra.star import StarJoin
from tidemill.algebra.unnest import Unnest

Names = frozenset[str]

Choose = Callable[[nodes.Scan, Schema], Schema]
"""The columns that a scan reads, given those that are needed."""


def narrow_scans(plan: Plan, choose: Choose) -> Plan:
    """Read fewer columns, and leave everything above as it is: so plans go on sharing parts.

    >>> from tidemill.optimize.examples import plan_of
    >>> plan = plan_of("SELECT COUNT(price) AS n FROM bid WINDOW(RANGE 5)")
    >>> print(narrow_scans(plan, lambda scan, needed: needed))
    01 Project [n := count1]
    02   Aggregate [count1 := COUNT(bid.price)]
    03     TimeWindow range=5
    04       Scan bid columns=[price]
    """
    pruning = _Narrowing(choose)
    pruning.need(plan, frozenset(plan.schema.names))
    return pruning.narrowed(plan)


def prune_columns(plan: Plan) -> Plan:
    """Read only the columns that something needs.

    >>> from tidemill.optimize.examples import plan_of
    >>> print(prune_columns(plan_of("SELECT COUNT(price) AS n FROM bid WINDOW(RANGE 5)")))
    01 Project [n := count1]
    02   Aggregate [count1 := COUNT(bid.price)]
    03     TimeWindow range=5
    04       Scan bid columns=[price]
    """
    pruning = _Pruning()
    pruning.need(plan, frozenset(plan.schema.names))
    return pruning.narrowed(plan)


class _Pruning:
    def __init__(self) -> None:
        self._needed: dict[Plan, Names] = {}
        self._done: dict[Plan, Plan] = {}

    def need(self, plan: Plan, names: Names) -> None:
        """Take note that a use of the plan needs these columns."""
        names = names or _cheapest(plan)
        if is_changing(plan) and isinstance(plan, nodes.Scan):
            names |= {plan.schema.names[-1]}  # changes say by it which row they are about
        known = self._needed.get(plan)
        if known is not None and names <= known:
            return
        self._needed[plan] = names if known is None else known | names
        for child, wanted in _needs(plan, self._needed[plan]):
            self.need(child, wanted)

    def narrowed(self, plan: Plan) -> Plan:
        """The plan with the columns that were asked for, or more."""
        if plan not in self._done:
            self._done[plan] = self._narrow(plan)
        return self._done[plan]

    def _narrow(self, plan: Plan) -> Plan:
        needed = self._needed[plan]
        match plan:
            case nodes.Scan():
                kept = (f.name for f in plan.columns if f"{plan.alias}.{f.name}" in needed)
                return replace(plan, columns=plan.columns.select(kept))
            case nodes.Project():
                items = tuple((name, scalar) for name, scalar in plan.items if name in needed)
                return nodes.Project(self.narrowed(plan.child), items)
            case Unnest():
                handed = tuple(name for name in plan.kept if name in needed)
                return replace(plan, child=self.narrowed(plan.child), kept=handed)
            case OverRows():
                calls = tuple(call for call in plan.calls if call.name in needed)
                below = self.narrowed(plan.child)
                return replace(plan, child=below, calls=calls) if calls else below
            case sets.Union():
                # Both sides must have the same columns, and either may have kept more.
                sides = (_only(self.narrowed(side), plan, needed) for side in plan.children)
                return sets.Union(*sides)
        return plan.with_children([self.narrowed(child) for child in plan.children])


class _Narrowing(_Pruning):
    def __init__(self, choose: Choose) -> None:
        super().__init__()
        self._choose = choose

    def need(self, plan: Plan, names: Names) -> None:
        # Projections keep all that they compute, and unions both sides alike.
        whole = isinstance(plan, nodes.Project | sets.Union | Unnest)
        super().need(plan, frozenset(plan.schema.names) if whole else names)

    def _narrow(self, plan: Plan) -> Plan:
        if not isinstance(plan, nodes.Scan):
            return plan.with_children([self.narrowed(child) for child in plan.children])
        needed = self._needed[plan]
        kept = (field.name for field in plan.columns if f"{plan.alias}.{field.name}" in needed)
        return replace(plan, columns=self._choose(plan, plan.columns.select(kept)))


def _cheapest(plan: Plan) -> Names:
    """A column for rows that are only counted: a frame without columns has no rows."""
    narrow = [field.name for field in plan.schema if pa.types.is_primitive(field.type)]
    return frozenset((narrow or list(plan.schema.names))[:1])


def _only(side: Plan, whole: Plan, needed: Names) -> Plan:
    kept = tuple(name for name in whole.schema.names if name in needed)
    if side.schema.names == kept:
        return side
    return nodes.Project(side, tuple((name, column(name, side.schema[name])) for name in kept))


def _needs(plan: Plan, names: Names) -> Iterator[tuple[Plan, Names]]:
    """What a node needs of its inputs, to give these columns."""
    match plan:
        case nodes.Filter():
            yield plan.child, names | plan.predicate.columns
        case nodes.Project():
            used = (scalar.columns for name, scalar in plan.items if name in names)
            yield plan.child, frozenset[str]().union(*used)
        case Unnest():
            yield plan.child, (names & frozenset(plan.kept)) | plan.values.columns
        case nodes.TimeWindow() | nodes.Granularity() | nodes.Rstream():
            yield plan.child, names
        case nodes.SessionWindow():
            yield plan.child, names | frozenset(plan.partition_by)
        case nodes.Aggregate():
            yield plan.child, frozenset(plan.keys).union(*(call.reads for call in plan.calls))
        case sets.Union():
            yield plan.left, names
            yield plan.right, names
        case nodes.Conditional():
            tested = frozenset() if plan.condition is None else plan.condition.columns
            for side in plan.children:
                yield side, (names | tested) & frozenset(side.schema.names)
        case nodes.MultiJoin():
            tested = frozenset() if plan.condition is None else plan.condition.columns
            for child in plan.inputs:
                yield child, (names | tested) & frozenset(child.schema.names)
        case Ranking() if plan.ranked.rows is None:
            yield plan.child, plan.ranked.reads
        case StarJoin():
            for child in plan.children:
                yield child, (names | plan.reads) & frozenset(child.schema.names)
        case _:
            # These compare whole rows.
            for child in plan.children:
                yield child, frozenset(child.schema.names)
