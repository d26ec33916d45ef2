"""Every kind of node is known wherever nodes are told apart by their class."""

from __future__ import annotations

from inspect import isabstract

import pytest

from tidemill import algebra
from tidemill.algebra import Plan
from tidemill.physical.facts import Partitioning
from tidemill.physical.lowering.joins import JoinLowering
from tidemill.physical.lowering.plans import _Lowering
from tidemill.physical.operator import Exec
from tidemill.physical.operators.star import AssignPartitionExec
from tidemill.stages.exchange import ExchangeExec
from tidemill.stages.late import LateRowsExec
from tidemill.stages.placement import Placement
from tidemill.stages.stages import ReceiveExec

LOGICAL = [
    node
    for name in algebra.__all__
    if isinstance(node := getattr(algebra, name), type) and issubclass(node, Plan)
]


def below(kind: type) -> set[type]:
    return {kind}.union(*(below(child) for child in kind.__subclasses__()))


OPERATORS = sorted(
    (kind for kind in below(Exec) if kind.__module__.startswith("tidemill.")),
    key=lambda kind: kind.__name__,
)
PLACED = {AssignPartitionExec, ReceiveExec, ExchangeExec, LateRowsExec}
"""What placement itself puts into plans."""


@pytest.mark.parametrize("node", [node for node in LOGICAL if node is not Plan])
def test_every_logical_node_is_lowered(node: type[Plan]) -> None:
    rules = [_Lowering.__dict__["_rule"], JoinLowering.__dict__["join_rule"]]
    assert any(
        rule.dispatcher.dispatch(node) is not rule.dispatcher.dispatch(object) for rule in rules
    )


@pytest.mark.parametrize("kind", [kind for kind in OPERATORS if not isabstract(kind)])
def test_every_operator_has_its_place(kind: type[Exec]) -> None:
    """Only what has a way of its own must be known to placement, and only that is."""
    place = Placement.__dict__["_place"].dispatcher
    own = getattr(kind, "together", None) is Partitioning.OWN and kind not in PLACED
    known = place.dispatch(kind) is not place.dispatch(Exec)
    assert known >= own
