"""From a physical plan to the logical one that it means."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from tidemill.algebra import (
    Aggregate,
    AntiJoin,
    CountWindow,
    Difference,
    Distinct,
    Dstream,
    Filter,
    Granularity,
    Intersection,
    Istream,
    Join,
    MaxUnion,
    Plan,
    Project,
    Ranking,
    Rstream,
    Scan,
    SemiJoin,
    StrictDifference,
    TimeWindow,
    TopK,
    Union,
    column,
)
from tidemill.algebra.nodes import SetOperation
from tidemill.analyze import Catalog, SourceInfo
from tidemill.analyze.references import source_plan
from tidemill.compose.scans import scan_columns
from tidemill.compose.sql import CannotSay
from tidemill.physical.aggregate import AggregateExec
from tidemill.physical.count_window import CountWindowExec
from tidemill.physical.counting import CountingExec
from tidemill.physical.distinct import DistinctExec
from tidemill.physical.filter import FilterExec
from tidemill.physical.granularity import GranularityExec
from tidemill.physical.join import JoinExec
from tidemill.physical.lookup import LookupExec, LookupKind
from tidemill.physical.project import ProjectExec
from tidemill.physical.ranking import RankExec
from tidemill.physical.row_number import RowNumberExec
from tidemill.physical.source import SourceExec
from tidemill.physical.split import SplitExec
from tidemill.physical.strict_difference import StrictDifferenceExec
from tidemill.physical.time_window import TimeWindowExec
from tidemill.physical.topk import TopKExec
from tidemill.physical.union import UnionExec

_SETS: dict[str, type[SetOperation]] = {
    "DifferenceExec": Difference,
    "StrictDifferenceExec": StrictDifference,
    "IntersectionExec": Intersection,
    "MaxUnionExec": MaxUnion,
}
_REASONS = {
    "RowNumberExec": "numbers of rows",
    "SnapshotExec": "answers that depend on when ticks are made",
}


def meaning_of(plan: Plan, catalog: Catalog) -> Plan:
    """The logical plan with the same answers; an error if logical operators cannot say it.

    >>> import pyarrow as pa
    >>> from tidemill.algebra import Scan, Schema
    >>> from tidemill.physical.coalesce import CoalesceExec
    >>> catalog = Catalog()
    >>> catalog.add_source(SourceInfo("bid", Schema.of(item=pa.int64())))
    >>> bid = SourceExec(Scan("bid", "bid", Schema.of(item=pa.int64())))
    >>> print(meaning_of(CoalesceExec(TimeWindowExec(bid, 5)), catalog))
    01 TimeWindow range=5
    02   Scan bid columns=[item]
    """
    return _Lifting(catalog).of(plan)


class _Lifting:
    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._done: dict[int, tuple[Plan, Plan]] = {}

    def of(self, plan: Plan) -> Plan:
        """The meaning of a part; one that occurs several times is looked at once."""
        if id(plan) not in self._done:
            # What is looked at is kept, so that no other part takes its identity.
            self._done[id(plan)] = (plan, self._lifted(plan))
        return self._done[id(plan)][1]

    def _lifted(self, plan: Plan) -> Plan:
        for kind in type(plan).__mro__:
            name = f"_{kind.__name__.lower()}"
            rule: Callable[[Any], Plan] | None = getattr(self, name, None)
            if rule is not None:
                return rule(plan)
        name = type(plan).__name__
        reason = _REASONS.get(name, f"what {name} does")
        help = "the plan can be run as it is"
        raise CannotSay(f"SQL has no words for {reason}", help=help)

    def _sourceexec(self, plan: SourceExec) -> Plan:
        """The source; if not all of its columns are read, the others are left out."""
        scan, info = plan.scan, self._catalog.lookup(plan.scan.source)
        assert isinstance(info, SourceInfo)
        with_time = info.time_column is not None and info.time_column in scan.columns
        whole = source_plan(info, scan.alias, scan_columns(info, with_time))
        if whole.schema == scan.schema:
            return scan
        below = next(node for node in whole.walk() if isinstance(node, Scan))
        return Project(below, tuple((f.name, column(f.name, f.type)) for f in scan.schema))

    def _filterexec(self, plan: FilterExec) -> Plan:
        return Filter(self.of(plan.child), plan.predicate)

    def _projectexec(self, plan: ProjectExec) -> Plan:
        if (found := self._partners(plan.child)) is not None:
            return Project(found, plan.items)
        return Project(self.of(plan.child), plan.items)

    def _partners(self, plan: Plan) -> Plan | None:
        """Rows that have a partner, or none: they are numbered, joined, and told by number."""
        match plan:
            case StrictDifferenceExec(left=rows, right=ProjectExec(child=JoinExec() as join)):
                kind: type[SemiJoin | AntiJoin] = AntiJoin
            case DistinctExec(child=ProjectExec(child=JoinExec() as join)):
                kind, rows = SemiJoin, join.inputs[0]
            case _:
                return None
        if not isinstance(rows, RowNumberExec) or plan.keys != (rows.name,):
            return None
        if len(join.inputs) != 2 or join.inputs[0] != rows:
            return None
        return kind(self.of(rows.child), self.of(join.inputs[1]), join.condition)

    def _timewindowexec(self, plan: TimeWindowExec) -> Plan:
        return TimeWindow(self.of(plan.child), plan.size, plan.slide, bounds=plan.bounds)

    def _countwindowexec(self, plan: CountWindowExec) -> Plan:
        child, by = self.of(plan.child), plan.partition_by
        return CountWindow(child, plan.rows, plan.slide, by, bounds=plan.bounds)

    def _granularityexec(self, plan: GranularityExec) -> Plan:
        return Granularity(self.of(plan.child), plan.granule, bounds=plan.bounds)

    def _splitexec(self, plan: SplitExec) -> Plan:
        # Other pieces than instants make no difference to what holds at one.
        return Rstream(self.of(plan.child)) if plan.length == 1 else self.of(plan.child)

    def _same(self, plan: Any) -> Plan:
        """Where rows are cut makes no difference to what holds at an instant."""
        return self.of(plan.child)

    _coalesceexec = _mergeexec = _versionsexec = _same

    def _istreamexec(self, plan: Any) -> Plan:
        return Istream(self.of(plan.child))

    def _dstreamexec(self, plan: Any) -> Plan:
        return Dstream(self.of(plan.child))

    def _distinctexec(self, plan: DistinctExec) -> Plan:
        self._check_keys(plan.keys, plan)
        return Distinct(self.of(plan.child))

    def _check_keys(self, keys: tuple[str, ...], plan: Plan) -> None:
        if set(keys) != set(plan.schema.names):
            message = "SQL compares rows by all of their columns, and this plan by some"
            raise CannotSay(message, help="the plan can be run as it is")

    def _aggregateexec(self, plan: AggregateExec) -> Plan:
        return Aggregate(self.of(plan.child), plan.keys, plan.calls)

    def _topkexec(self, plan: TopKExec) -> Plan:
        return TopK(self.of(plan.child), plan.order, plan.limit, plan.offset)

    def _rankexec(self, plan: RankExec) -> Plan:
        return Ranking(self.of(plan.child), plan.ranked).exact

    def _joinexec(self, plan: JoinExec) -> Plan:
        inputs = [self.of(child) for child in plan.inputs]
        condition = plan.condition
        if len(inputs) == 2:
            return Join(inputs[0], inputs[1], condition)
        joined = reduce(lambda left, right: Join(left, right, None), inputs)
        return joined if condition is None else Filter(joined, condition)

    def _lookupexec(self, plan: LookupExec) -> Plan:
        left, right = self.of(plan.left), self.of(plan.relation)
        kinds = {LookupKind.INNER: Join, LookupKind.SEMI: SemiJoin, LookupKind.ANTI: AntiJoin}
        return kinds[plan.kind](left, right, plan.condition)

    def _unionexec(self, plan: UnionExec) -> Plan:
        return Union(self.of(plan.left), self.of(plan.right))

    def _countingexec(self, plan: CountingExec) -> Plan:
        self._check_keys(plan.keys, plan)
        return _SETS[type(plan).__name__](self.of(plan.left), self.of(plan.right))
