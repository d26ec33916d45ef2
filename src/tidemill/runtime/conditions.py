"""How many rows meet the conditions of a running plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar
from tidemill.optimize.conditions import canonical
from tidemill.physical.filter import FilterExec
from tidemill.physical.join import JoinExec
from tidemill.physical.lookup import LookupExec, LookupKind
from tidemill.physical.operator import Exec
from tidemill.runtime.operators import NodeProgress


class Conditions:
    """The filters and joins among some operators, under the names of the sources.

    `whole` gives the plan of an operator down to its sources, for operators of a stage; None if
    what the operator sees does not tell about the sources.
    """

    def __init__(
        self, nodes: Sequence[Exec], whole: Callable[[Exec], Plan | None] = lambda node: node
    ) -> None:
        self._texts: dict[int, str] = {}
        for number, node in enumerate(nodes):
            condition = _condition(node)
            plan = None if condition is None else whole(node)
            if condition is not None and plan is not None:
                text = canonical(condition, plan)
                self._texts |= {} if text is None else {number: text}

    def shares(self, progress: Sequence[NodeProgress]) -> dict[str, float]:
        """The share of rows or pairs that meet each condition, from what operators have done."""
        shares = {}
        for number, text in self._texts.items():
            if tried := _tried(progress[number]):
                shares[text] = min(1.0, progress[number].rows_out / tried)
        return shares


def _condition(node: Exec) -> Scalar | None:
    if isinstance(node, FilterExec):
        return node.predicate
    if isinstance(node, JoinExec) and len(node.inputs) == 2:
        # What more inputs do to each other is not told by how many rows come out.
        return node.condition
    if isinstance(node, LookupExec) and node.kind is LookupKind.INNER and node.version is None:
        # How long rows hold is not known where they are inserted and deleted.
        return node.condition
    return None


def _tried(progress: NodeProgress) -> float:
    """The rows, or the pairs of rows that held together.

    If rows start evenly over the time T, a row that holds for l meets one that holds for m with
    the probability (l + m) / T.
    """
    if not progress.held:
        return sum(progress.rows_in)
    left, right = progress.rows_in
    if not left or not right:
        return 0.0
    together = progress.held[0] / left + progress.held[1] / right
    return left * right * min(1.0, together / (progress.last - progress.first + 1))
