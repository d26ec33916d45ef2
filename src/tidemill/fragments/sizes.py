"""How many rows hold at one time, as far as a plan and what is known of its sources tell.

Streams of which nothing is known count as equally fast, and as faster than any relation is large;
then windows, limits and numbers of rows tell which of two inputs is the smaller one.
"""

from __future__ import annotations

import math

from tidemill.algebra.nodes import Scan, SourceKind
from tidemill.algebra.plan import Plan
from tidemill.optimize.cost.constants import MEASURED
from tidemill.optimize.cost.state import width
from tidemill.optimize.statistics import Statistics
from tidemill.physical.aggregate import AggregateExec
from tidemill.physical.count_window import CountWindowExec
from tidemill.physical.difference import DifferenceExec
from tidemill.physical.hand_over import HandOverExec
from tidemill.physical.intersection import IntersectionExec
from tidemill.physical.istream import DstreamExec, IstreamExec
from tidemill.physical.join import JoinExec
from tidemill.physical.lookup import LookupExec, LookupKind
from tidemill.physical.source import SourceExec
from tidemill.physical.strict_difference import StrictDifferenceExec
from tidemill.physical.time_window import TimeWindowExec
from tidemill.physical.topk import TopKExec
from tidemill.timeline import OPEN_END

_PER_INSTANT = 1e12  # the rows of a stream
_UNKNOWN = 1e6  # the rows of a relation that was not handed over as a table


class Sizes:
    """Estimates of the rows that hold at one time; good only to compare.

    >>> from tidemill.algebra import Scan, Schema
    >>> bid = SourceExec(Scan("bid", "bid", Schema.of()))
    >>> label = SourceExec(Scan("label", "label", Schema.of(), SourceKind.CONSTANT, rows=100))
    >>> inputs = [TimeWindowExec(bid, 9), label, TimeWindowExec(bid, 5)]
    >>> [plan.label for plan in sorted(inputs, key=Sizes().of)]
    ['SourceExec label columns=[] constant', 'TimeWindowExec range=5', 'TimeWindowExec range=9']
    """

    def __init__(self, statistics: Statistics | None = None) -> None:
        self._statistics = statistics or Statistics()
        self._known: dict[Plan, float] = {}

    def of(self, plan: Plan) -> float:
        """The estimate for a plan."""
        if plan not in self._known:
            self._known[plan] = self._estimate(plan)
        return self._known[plan]

    def bytes(self, plan: Plan) -> float:
        """What an operator keeps that holds these rows for others to find."""
        return self.of(plan) * (width(plan.schema) + MEASURED["join"].row_bytes)

    def _estimate(self, plan: Plan) -> float:
        match plan:
            case SourceExec():
                return self._source(plan.scan)
            case TimeWindowExec():
                return self.of(plan.child) * (plan.size or OPEN_END)
            case CountWindowExec():
                # Nothing is known about the number of groups; as a rule it is not that of rows.
                return (plan.rows or OPEN_END) * (_UNKNOWN if plan.partition_by else 1)
            case AggregateExec():
                return self.of(plan.child) if plan.keys else 1
            case TopKExec():
                return min(plan.limit, self.of(plan.child))
            case IstreamExec() | DstreamExec():
                return min(_PER_INSTANT, self.of(plan.child))
            case DifferenceExec() | StrictDifferenceExec():
                return self.of(plan.left)
            case LookupExec():
                # By key, a row finds about one other.
                pairs = plan.kind is LookupKind.INNER and not plan.keys[0]
                return self.of(plan.left) * (self.of(plan.relation) if pairs else 1)
            case HandOverExec():
                return self.of(plan.old)
            case IntersectionExec():
                return min(self.of(plan.left), self.of(plan.right))
            case JoinExec():
                sizes = [self.of(child) for child in plan.inputs]
                return max(sizes) if plan.is_keyed else math.prod(sizes)
            case _:
                return sum(map(self.of, plan.children))

    def _source(self, scan: Scan) -> float:
        known = self._statistics.of(scan.source)
        if scan.kind is SourceKind.STREAM:
            return known.rate or _PER_INSTANT
        rows = scan.rows if known.rows is None else known.rows
        return _UNKNOWN if rows is None else max(1, rows)
