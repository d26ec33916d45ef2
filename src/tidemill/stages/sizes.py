"""How many rows hold at one time, as far as a plan and what is known of its sources tell."""

from __future__ import annotations

from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.plan import Memo
from tidemill.optimize.cost.constants import MEASURED
from tidemill.optimize.cost.state import width
from tidemill.optimize.statistics import Statistics
from tidemill.physical.operator import Exec
from tidemill.physical.operators.source import SourceExec


class Sizes:
    """Estimates of the rows that hold at one time; good only to compare.

    >>> from tidemill.algebra import Scan, Schema
    >>> from tidemill.physical.operators.time_window import TimeWindowExec
    >>> bid = SourceExec(Scan("bid", "bid", Schema.of()))
    >>> label = SourceExec(Scan("label", "label", Schema.of(), SourceKind.CONSTANT, rows=100))
    >>> inputs = [TimeWindowExec(bid, 9), label, TimeWindowExec(bid, 5)]
    >>> [plan.label for plan in sorted(inputs, key=Sizes().of)]
    ['SourceExec label columns=[] constant', 'TimeWindowExec range=5', 'TimeWindowExec range=9']
    """

    def __init__(self, statistics: Statistics | None = None) -> None:
        self._statistics = statistics or Statistics()
        self.of: Memo[Exec, float] = Memo(self._estimate)

    def bytes(self, plan: Exec) -> float:
        """What an operator keeps that holds these rows for others to find."""
        return self.of(plan) * (width(plan.schema) + MEASURED["join"].row_bytes)

    def _estimate(self, plan: Exec) -> float:
        known = self._known(plan) if isinstance(plan, SourceExec) else None
        return known or plan.rows_at_once([self.of(child) for child in plan.children])

    def _known(self, source: SourceExec) -> float | None:
        known = self._statistics.of(source.scan.source)
        return known.rate if source.scan.kind is SourceKind.STREAM else known.rows
