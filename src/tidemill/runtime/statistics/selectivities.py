"""How many rows meet the conditions of a running plan."""

from __future__ import annotations

from collections.abc import Mapping

from tidemill.algebra.scalar import Scalar
from tidemill.optimize.conditions import canonical
from tidemill.physical.operator import Exec
from tidemill.physical.operators.filter import FilterExec
from tidemill.physical.operators.join import JoinExec
from tidemill.physical.operators.lookup import LookupExec, LookupKind
from tidemill.runtime.operator_progress import OperatorProgress


def measured_selectivities(running: Mapping[Exec, OperatorProgress]) -> dict[str, float]:
    """The share of rows or pairs that meet each condition of some operators, by what these have
    done; conditions are under the names of the sources."""
    shares: dict[str, float] = {}
    for node, progress in running.items():
        condition = _condition(node)
        tried = 0.0 if condition is None else _tried(progress)
        if condition is not None and tried:
            text = canonical(condition, node)
            shares |= {} if text is None else {text: min(1.0, progress.rows_out / tried)}
    return shares


def _condition(node: Exec) -> Scalar | None:
    if isinstance(node, FilterExec):
        return node.predicate
    if isinstance(node, JoinExec) and len(node.inputs) == 2:
        # With more inputs, the number of results does not tell which condition let them pass.
        return node.condition
    if isinstance(node, LookupExec) and node.kind is LookupKind.INNER and node.version is None:
        # How long rows hold is not known where they are inserted and deleted.
        return node.condition
    return None


def _tried(progress: OperatorProgress) -> float:
    """The rows, or the pairs of rows that held together.

    If rows start evenly over the time T, a row that holds for l meets one that holds for m with
    the probability (l + m) / T.
    """
    if not progress.held:
        return progress.rows_in
    left, right = progress.rows_by_input
    if not left or not right:
        return 0.0
    together = progress.held[0] / left + progress.held[1] / right
    return left * right * min(1.0, together / (progress.last - progress.first + 1))
