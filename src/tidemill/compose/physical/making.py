"""What physical operators have in common: how they are made of logical ones, and checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from tidemill.algebra import VERSION, Plan, SourceKind
from tidemill.compose import logical
from tidemill.compose.bench import Bench
from tidemill.compose.model import wrong
from tidemill.compose.operators import Card
from tidemill.expressions.functions import Functions
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec
from tidemill.physical.operators.filter import FilterExec
from tidemill.physical.operators.project import ProjectExec
from tidemill.physical.operators.source import SourceExec

LOGICAL: Final = {operator.kind: operator for operator in logical.OPERATORS}


def functions_of(bench: Bench) -> Functions:
    """The functions of users."""
    return bench.catalog.functions


def operator_like(kind: str, summary: str, title: str | None = None) -> Card:
    """An operator that does what a logical one says, with the same settings."""
    known = LOGICAL[kind]
    return replace(known, title=title or known.title, summary=summary, build=_lowered(known))


def _lowered(known: Card) -> Callable[[Bench], Plan]:
    def build(bench: Bench) -> Plan:
        ordinary(bench)
        return lower(known.build(bench), functions_of(bench))

    return build


def below(bench: Bench) -> Exec:
    """The first input."""
    return operators(bench.plan)


def operators(plan: Plan) -> Exec:
    """A plan of operators: at this level, there are no others."""
    assert isinstance(plan, Exec)
    return plan


def ordinary(bench: Bench) -> None:
    """Refuse the raw changes of a time-varying relation."""
    for number, piece in enumerate(bench.inputs):
        if is_raw(piece.plan):
            message = "the input has changes of a relation, not rows with a validity"
            help = "put Versions between them, or look the relation up with a Lookup"
            raise wrong(message, help, input=number)


def is_raw(plan: Plan) -> bool:
    """Whether the rows of a plan are insertions and deletions."""
    if isinstance(plan, SourceExec):
        return plan.scan.kind is SourceKind.CHANGING
    return isinstance(plan, FilterExec | ProjectExec) and is_raw(plan.child)


def version_of(plan: Plan) -> str | None:
    """The column that tells rows of a time-varying relation apart."""
    names = plan.schema.names
    return next((name for name in names if name.endswith(VERSION) or name == "#version"), None)


def waiting(plan: Plan) -> Exec:
    """An input that tells how far it has come, for an operator that waits for that."""
    return operators(plan).with_eager(True)
