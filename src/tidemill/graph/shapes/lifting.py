"""The shape of a plan: what is left without the constants of its conditions.

A plan that reads a stream by `price > 100 AND item = 7` becomes one that joins the stream with a
relation of constants; what is computed above is computed query by query, as one more key tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from hashlib import blake2b

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.nodes import (
    Aggregate,
    Distinct,
    Filter,
    Join,
    MultiJoin,
    Project,
    Scan,
    SourceKind,
    TimeWindow,
)
from tidemill.algebra.plan import Plan, render
from tidemill.algebra.scalar import Scalar, column
from tidemill.graph.shapes.parameters import LiftedConstants
from tidemill.graph.shapes.relations import NUMBER, relation_name, scan_of
from tidemill.physical.operators.pick import QUERY, Constants

_ALIAS = "#constants."
_CALLS = frozenset({"COUNT", "SUM", "AVG", "MIN", "MAX"})


@dataclass(frozen=True)
class Shaped:
    """A plan over a relation of constants, the columns of the result, and one query's constants."""

    plan: Plan
    relation: str
    names: tuple[str, ...]
    constants: Constants


def shape_of(plan: Plan) -> Shaped | None:
    """The shape of a plan; None if it has to run by itself."""
    path = _path(plan)
    if path is None:
        return None
    found = LiftedConstants(_ALIAS)
    conditions = {
        id(node): found.taken_from(node.predicate, node.schema)
        for node in reversed(path)
        if isinstance(node, Filter)
    }
    lift = _Lift(path, conditions)
    unnamed = relation_name(found.columns, "")
    digest = blake2b(render(lift.over(unnamed)).encode(), digest_size=8).hexdigest()
    relation = relation_name(found.columns, digest)
    return Shaped(lift.over(relation), relation, plan.schema.names, found.found)


@dataclass(frozen=True)
class _Lift:
    """The nodes from the top of a plan down to a stream, and the conditions of their filters."""

    path: Sequence[Plan]
    conditions: Mapping[int, Scalar]

    def over(self, relation: str) -> Plan:
        """The plan over the constants of a relation."""
        *above, lowest, scan = self.path
        joined = Join(scan, scan_of(relation), self.conditions[id(lowest)])
        columns = ((name, column(name, joined.schema[name])) for name in scan.schema.names)
        query = (QUERY, column(f"{_ALIAS}{NUMBER}", pa.int64()))
        carried = tuple((name, column(name, joined.schema[name])) for name in self._needed)
        plan: Plan = Project(joined, (*columns, query, *carried))
        added = (query[0], *self._needed)
        for node, below in zip(reversed(above), reversed(self.path[1:-1]), strict=True):
            plan = _over(self._with_condition(node), below, plan, added)
        return plan

    @property
    def _needed(self) -> list[str]:
        """The parameters of conditions above the lowest."""
        used = {n for node in self.path[:-2] for n in self._columns(node) if n.startswith(_ALIAS)}
        return sorted(used)

    def _columns(self, node: Plan) -> frozenset[str]:
        return self.conditions[id(node)].columns if id(node) in self.conditions else frozenset()

    def _with_condition(self, node: Plan) -> Plan:
        if isinstance(node, Filter):
            return replace(node, predicate=self.conditions[id(node)])
        return node


@singledispatch
def _over(node: Plan, below: Plan, lifted: Plan, added: tuple[str, ...]) -> Plan:
    """A node over a plan that has the columns of the one below, and some that were added."""
    return node.with_children([lifted if child is below else child for child in node.children])


@_over.register
def _project(node: Project, below: Plan, lifted: Plan, added: tuple[str, ...]) -> Plan:
    more = ((name, column(name, lifted.schema[name])) for name in added)
    return Project(lifted, (*node.items, *more))


@_over.register
def _aggregate(node: Aggregate, below: Plan, lifted: Plan, added: tuple[str, ...]) -> Plan:
    return Aggregate(lifted, (*node.keys, *added), node.calls)


def _path(plan: Plan) -> list[Plan] | None:
    """The path from the top of a plan to a stream that is filtered by constants."""
    if isinstance(plan, Filter) and isinstance(plan.child, Scan):
        return [plan, plan.child] if _has_constants(plan) else None
    if not _qualifies(plan):
        return None
    found = ([plan, *path] for path in map(_path, plan.children) if path is not None)
    return next(found, None)


def _has_constants(plan: Filter) -> bool:
    found = LiftedConstants(_ALIAS)
    found.taken_from(plan.predicate, plan.schema)
    assert isinstance(plan.child, Scan)
    return bool(found.constants) and plan.child.kind is SourceKind.STREAM


@singledispatch
def _qualifies(node: Plan) -> bool:
    """Whether a node computes for many queries what it computes for each of them alone.

    Not so if it could fail for the rows of one of them, or remembered them for ever.
    """
    return False


@_qualifies.register(Filter)
@_qualifies.register(Distinct)
def _always(node: Plan) -> bool:
    return True


@_qualifies.register
def _project_qualifies(node: Project) -> bool:
    return all(item.is_column or isinstance(item.node, exp.Literal) for _, item in node.items)


@_qualifies.register
def _window_qualifies(node: TimeWindow) -> bool:
    return node.size is not None and node.is_fixed


@_qualifies.register
def _aggregate_qualifies(node: Aggregate) -> bool:
    plain = (call.user is None and not call.weights and not call.parts for call in node.calls)
    return all(plain) and all(call.function in _CALLS for call in node.calls)


@_qualifies.register(Join)
@_qualifies.register(MultiJoin)
def _join_qualifies(node: Plan) -> bool:
    return len({id(child) for child in node.children}) == len(node.children)
