"""Relations, as the operators that look them up want them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tidemill.algebra import nodes
from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.plan import Memo, Plan
from tidemill.algebra.scalar import Scalar, column, conjunction, equality
from tidemill.expressions.functions import Functions
from tidemill.physical.lowering.items import Items, computing, used
from tidemill.physical.operator import Exec
from tidemill.physical.operators.filter import FilterExec
from tidemill.physical.operators.join.keys import split_condition
from tidemill.physical.operators.lookup import LookupExec, LookupKind
from tidemill.physical.operators.project import ProjectExec
from tidemill.physical.operators.source import SourceExec

_VERSION = "#version"  # the column that tells versions apart, where a projection left it out


@dataclass(frozen=True)
class RelationInput:
    """Rows of a relation; `version` is the column that tells which of them a change is about."""

    plan: Exec
    kind: SourceKind
    version: str | None = None


class ChangingRelations:
    """The operators of relations that change, each part once, by its identity.

    They treat the insertion and the end of a row alike, and keep the column of its version.
    """

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self.of: Memo[Plan, RelationInput] = Memo(self._lowered)

    def _lowered(self, plan: Plan) -> RelationInput:
        """A scan that is filtered and projected at most."""
        match plan:
            case nodes.Scan():
                return RelationInput(SourceExec(plan), plan.kind, plan.schema.names[-1])
            case nodes.Filter():
                child = self.of(plan.child)
                calls = used(self._functions, plan.predicate)
                return replace(child, plan=FilterExec(child.plan, plan.predicate, calls))
            case nodes.Project():
                child = self.of(plan.child)
                items, version = _with_version(plan.items, child)
                calls = used(self._functions, *(scalar for _, scalar in items))
                return RelationInput(ProjectExec(child.plan, items, calls), child.kind, version)
        raise TypeError(f"{type(plan).__name__} is not a relation")


def _with_version(items: Items, child: RelationInput) -> tuple[Items, str]:
    """The items of a projection, and which of them is the version."""
    assert child.version is not None
    for name, scalar in items:
        if scalar.is_column and scalar.node.name == child.version:
            return items, name
    version = column(child.version, child.plan.schema[child.version])
    return (*items, (_VERSION, version)), _VERSION


def lookup(
    kind: LookupKind,
    rows: Exec,
    relation: RelationInput,
    condition: Scalar | None,
    functions: Functions,
) -> LookupExec:
    """Look rows up in a relation; columns that are computed as keys are part of the result."""
    split = split_condition(condition, rows.schema, relation.plan.schema)
    return LookupExec(
        computing(rows, split.left_items, functions),
        computing(relation.plan, split.right_items, functions),
        kind,
        relation.kind,
        (tuple(key.left for key in split.keys), tuple(key.right for key in split.keys)),
        () if split.residual is None else (split.residual,),
        tuple(key.null_safe for key in split.keys),
        relation.version,
        used(functions, split.residual),
        relation.kind is SourceKind.CHANGING
        and any(leaf.scan.kind is SourceKind.INTERVALS for leaf in _sources(rows)),
    )


def _sources(plan: Exec) -> Iterator[SourceExec]:
    return (node for node in plan.walk() if isinstance(node, SourceExec))


def lookup_steps(plan: nodes.MultiJoin, origin: int) -> Iterator[tuple[int, Scalar | None]]:
    """In which order rows of one input look up the others, and what must hold since each."""
    order = plan.orders[origin] if plan.orders else range(len(plan.inputs))
    known, keyed = set(plan.inputs[origin].schema.names), plan.keys[origin]
    waiting = list(plan.conditions)
    for number in (number for number in order if number != origin):
        known |= set(plan.inputs[number].schema.names)
        due = [condition for condition in waiting if condition.columns <= known]
        waiting = [condition for condition in waiting if condition not in due]
        pairs = zip(keyed, plan.keys[number], strict=True) if keyed and plan.keys[number] else ()
        equal = [
            equality(column(one, plan.schema[one]), column(other, plan.schema[other]))
            for one, other in pairs
        ]
        keyed = keyed or plan.keys[number]
        yield number, conjunction(*equal, *due)
