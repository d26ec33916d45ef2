"""What a query will cost, part by part of its plan, and what was measured."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tidemill.algebra.nodes import Scan, SourceKind
from tidemill.algebra.plan import Plan, lines_of, nodes_of, with_depth
from tidemill.engine.cost_table import PartCost, table
from tidemill.explain import PlanLine
from tidemill.expressions.functions import Functions
from tidemill.optimize.cost.estimates import Estimator
from tidemill.optimize.cost.usage import CostModel
from tidemill.optimize.statistics import Statistics
from tidemill.physical.lowering import operators_of
from tidemill.physical.operator import Exec
from tidemill.runtime.operator_progress import OperatorProgress, with_state_of
from tidemill.runtime.progress import Progress
from tidemill.timeline import TimeDomain


@dataclass(frozen=True)
class Costs:
    """An optimized plan, and what is known of the streams that it reads."""

    plan: Plan
    statistics: Statistics
    functions: Functions
    domain: TimeDomain | None

    def lines(self, progress: Progress) -> list[PlanLine]:
        """The estimates for every part of the plan, beside what a run of it measured."""
        model = self.model
        measured = self._measured(progress) if progress.operators else {}
        span = self._span(model.estimator, progress)
        parts = [
            PartCost(
                line,
                model.estimator.of(part),
                model.of(part),
                measured.get(id(part)),
                span * model.estimator.rate(part),
            )
            for line, (_, part) in zip(lines_of(self.plan), with_depth(self.plan), strict=True)
        ]
        found = table(parts, model.total(self.plan), self._domain, bool(measured))
        return [*found, *map(PlanLine, self._guesses())]

    @property
    def model(self) -> CostModel:
        """What each part of the plan is estimated to need."""
        return CostModel(Estimator(self.statistics, self._domain))

    @property
    def _domain(self) -> TimeDomain:
        return self.domain or TimeDomain.TICKS

    def _scans(self) -> dict[str, Scan]:
        """The streams that the plan reads."""
        found = (node for _, node in with_depth(self.plan) if isinstance(node, Scan))
        return {scan.source: scan for scan in found if scan.kind is SourceKind.STREAM}

    def _span(self, estimator: Estimator, progress: Progress) -> float:
        """How many instants it takes for as many rows as were read, at the estimated rates."""
        scans = self._scans()
        read = sum(progress.sources[name].rows for name in scans if name in progress.sources)
        rate = sum(estimator.rate(scan) for scan in scans.values())
        return read / rate if rate else 0.0

    def _guesses(self) -> Iterator[str]:
        unknown = [name for name in self._scans() if self.statistics.of(name).rate is None]
        if unknown:
            yield f"rates are guessed for: {', '.join(sorted(unknown))}"

    def _measured(self, progress: Progress) -> dict[int, OperatorProgress]:
        """What was measured for each part of the plan: its rows, and what all operators keep that
        it consists of."""
        operators = operators_of(self.plan, self.functions)
        found = _by_operator(operators[id(self.plan)], progress)
        result = {}
        for _, part in with_depth(self.plan):
            top = operators[id(part)]
            below = {node for child in part.children for node in nodes_of(operators[id(child)])}
            below.add(top)
            own = [found[node] for node in nodes_of(top) if node in found and node not in below]
            if top in found:
                result[id(part)] = with_state_of(found[top], own)
        return result


def _by_operator(root: Exec, progress: Progress) -> Mapping[Plan, OperatorProgress]:
    """Operators report under their labels, inputs first; on Spark some have become Spark's own."""
    reports: defaultdict[str, deque[OperatorProgress]] = defaultdict(deque)
    for report in progress.operators:
        reports[report.operator].append(report)
    return {
        node: reports[node.label].popleft() for node in nodes_of(root) if reports.get(node.label)
    }
