"""Set operations on inputs with the same columns."""

from __future__ import annotations

from dataclasses import replace

from tidemill.algebra import Plan, Union
from tidemill.compose.bench import Bench
from tidemill.compose.logical.sets import CARDS, SetCard, alike
from tidemill.compose.operators import Card
from tidemill.compose.physical.making import functions_of, ordinary, waiting
from tidemill.compose.physical.rows import KEYS, keys_of
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec
from tidemill.physical.operators.counting import counting
from tidemill.physical.operators.union import UnionExec


def _sides(bench: Bench) -> list[Exec]:
    ordinary(bench)
    plans = alike([piece.plan for piece in bench.inputs])
    return [lower(plan, functions_of(bench)) for plan in plans]


def _union(bench: Bench) -> Plan:
    left, right = _sides(bench)
    return UnionExec(left, right)


def _operator(card: SetCard) -> Card:
    """The operator that does what a logical one says, by the columns that tell rows apart."""
    if card.node is Union:
        return replace(card.operator, build=_union, most=2)

    def build(bench: Bench) -> Plan:
        left, right = _sides(bench)
        return counting(card.node)(waiting(left), waiting(right), keys_of(bench))

    return replace(card.operator, build=build, settings=(KEYS,))


OPERATORS = tuple(map(_operator, CARDS))
