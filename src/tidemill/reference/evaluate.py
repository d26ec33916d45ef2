"""From a plan to its snapshots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from tidemill import algebra
from tidemill.algebra import Dstream, Filter, Granularity, Plan, Project, Ranking, Scan, StarJoin
from tidemill.algebra.plan import Memo
from tidemill.algebra.unnest import ONE_ROW
from tidemill.expressions import UserFunction
from tidemill.reference import changes, joins, order, over_rows, rows, sets, whole_rows, windows
from tidemill.reference.aggregates import aggregate
from tidemill.reference.run import ReferenceRun
from tidemill.reference.scans import SourceData, scan, scanned
from tidemill.reference.stream import LogicalStream, WholeRow, snapshots_of

OPERATORS: Mapping[type[Plan], Callable[..., LogicalStream]] = {
    algebra.Filter: rows.filtered,
    algebra.Project: rows.projected,
    algebra.Unnest: rows.unnested,
    algebra.TimeWindow: windows.time_window,
    algebra.CountWindow: windows.count_window,
    algebra.SessionWindow: windows.session_window,
    algebra.Granularity: windows.granularity,
    algebra.Distinct: sets.distinct,
    algebra.Aggregate: aggregate,
    algebra.TopK: order.top,
    algebra.OverRows: over_rows.over_rows,
    algebra.Istream: changes.istream,
    algebra.Dstream: changes.dstream,
    algebra.Rstream: changes.rstream,
    algebra.Join: joins.join,
    algebra.MultiJoin: joins.multi_join,
    algebra.SemiJoin: joins.semi_join,
    algebra.AntiJoin: joins.anti_join,
    **{kind: sets.each_instant(combine) for kind, combine in sets.DEFINITIONS.items()},
}
"""The definition of every operator but Scan, called with the node, the run and the inputs."""


def evaluate(
    plan: Plan,
    sources: Mapping[str, SourceData],
    horizon: int,
    functions: Mapping[str, UserFunction] = MappingProxyType({}),
    *,
    logical_granularity: bool = False,
) -> LogicalStream:
    """The snapshots of a plan at the instants 0 to `horizon`.

    Late rows must have been left out of the sources. With `logical_granularity`, a granularity
    conversion leaves nothing between the multiples of its granule.

    >>> import pyarrow as pa
    >>> bids = Scan("bid", "b", algebra.Schema.of(item=pa.int64()))
    >>> window = algebra.TimeWindow(bids, size=2)
    >>> dict(evaluate(window, {"bid": [({"item": 7}, 3)]}, horizon=9))
    {3: Counter({(7,): 1}), 4: Counter({(7,): 1})}
    """
    evaluation = _Evaluation(sources)
    return evaluation.of(plan, ReferenceRun(horizon, functions, logical_granularity))


class _Evaluation:
    """Evaluates every part of a plan once, however often it occurs."""

    def __init__(self, sources: Mapping[str, SourceData]) -> None:
        self._sources = {ONE_ROW: [{"one": True}], **sources}
        self._known: Memo[Plan, dict[int, LogicalStream]] = Memo(lambda plan: {})

    def of(self, plan: Plan, run: ReferenceRun) -> LogicalStream:
        known = self._known(plan)
        if run.horizon not in known:
            known[run.horizon] = self._evaluate(plan, run)
        return known[run.horizon]

    def _evaluate(self, plan: Plan, run: ReferenceRun) -> LogicalStream:
        if isinstance(plan, Scan):
            return scan(plan, run, self._sources[plan.source])
        if isinstance(plan, StarJoin | Ranking):
            return self.of(plan.exact, run)  # what is left out is not part of the definition
        if isinstance(plan, Granularity) and plan.changes:
            return snapshots_of(self.rows(plan, run), run.horizon)
        if type(plan) not in OPERATORS:
            raise TypeError(f"no definition of {type(plan).__name__}")
        ahead = replace(run, horizon=run.horizon + 1) if isinstance(plan, Dstream) else run
        inputs = [self.of(child, ahead) for child in plan.children]
        return OPERATORS[type(plan)](plan, run, *inputs)

    def rows(self, plan: Plan, run: ReferenceRun) -> list[WholeRow]:
        """The rows of a plan whose rows are whole."""
        if isinstance(plan, Scan):
            return scanned(plan, self._sources[plan.source])
        if isinstance(plan, Filter | Project | Granularity | algebra.Union | algebra.Unnest):
            return whole_rows.OPERATORS[type(plan)](
                plan, run, *(self.rows(child, run) for child in plan.children)
            )
        if isinstance(plan, algebra.TimeWindow):
            return whole_rows.time_window(plan, self.of(plan.child, run))
        return whole_rows.of_instants(self.of(plan, run))
