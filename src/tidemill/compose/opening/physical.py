"""From physical plans to composed ones."""

from __future__ import annotations

from dataclasses import fields, replace

from tidemill.algebra import Plan, Scalar
from tidemill.analyze import SourceInfo
from tidemill.analyze.windows import shown
from tidemill.compose.model import Composed
from tidemill.compose.opening.base import Opened, Opening, Settings
from tidemill.compose.opening.said import call_text, order_text, typed
from tidemill.compose.scans import AS_COLUMN, scan_columns
from tidemill.compose.texts import column_text, scalar_text, spelled
from tidemill.physical.aggregate import AggregateExec
from tidemill.physical.coalesce import CoalesceExec
from tidemill.physical.count_window import CountWindowExec
from tidemill.physical.counting import CountingExec
from tidemill.physical.distinct import DistinctExec
from tidemill.physical.filter import FilterExec
from tidemill.physical.granularity import GranularityExec
from tidemill.physical.join import JoinExec
from tidemill.physical.lookup import LookupExec
from tidemill.physical.merge import MergeExec
from tidemill.physical.project import ProjectExec
from tidemill.physical.row_number import RowNumberExec
from tidemill.physical.source import SourceExec
from tidemill.physical.split import SplitExec
from tidemill.physical.time_window import TimeWindowExec
from tidemill.physical.topk import TopKExec

_KINDS = {
    "VersionsExec": "versions",
    "SnapshotExec": "snapshot",
    "IstreamExec": "istream",
    "DstreamExec": "dstream",
    "UnionExec": "union",
    "DifferenceExec": "difference",
    "StrictDifferenceExec": "strict_difference",
    "IntersectionExec": "intersection",
    "MaxUnionExec": "max_union",
}


class PhysicalOpening(Opening):
    """Opens physical plans."""

    level = "physical"
    plain = _KINDS

    def composed(self, plan: Plan) -> Composed:
        """The whole plan; whether others wait for a node follows from where it stands."""
        return super().composed(plan.rewrite(_patient))

    def _sourceexec(self, plan: SourceExec) -> Opened:
        scan = plan.scan
        info = self.catalog.lookup(scan.source)
        assert isinstance(info, SourceInfo)
        with_time = info.time_column is not None and info.time_column in scan.columns
        names = [name for name in scan.columns.names if not name.startswith("#")]
        whole = tuple(names) == scan_columns(info, with_time).names and not info.ranges
        settings: Settings = {
            "source": scan.source,
            "alias": "" if scan.alias == scan.source else scan.alias,
            "time": AS_COLUMN if with_time else "",
            "columns": [] if whole else names,
        }
        return "source", settings, ()

    def _filterexec(self, plan: FilterExec) -> Opened:
        return "filter", {"condition": spelled(plan.predicate.node)}, (plan.child,)

    def _projectexec(self, plan: ProjectExec) -> Opened:
        columns = [scalar_text(typed(scalar), name) for name, scalar in plan.items]
        return "project", {"columns": columns}, (plan.child,)

    def _timewindowexec(self, plan: TimeWindowExec) -> Opened:
        settings: Settings = {
            "size": "UNBOUNDED" if plan.size is None else shown(plan.size, self.domain),
            "slide": "" if plan.slide == 1 else shown(plan.slide, self.domain),
            "least": shown(plan.bounds.low, self.domain) if plan.bounds else "",
        }
        return "time_window", settings, (plan.child,)

    def _countwindowexec(self, plan: CountWindowExec) -> Opened:
        settings: Settings = {
            "rows": "UNBOUNDED" if plan.rows is None else plan.rows,
            "slide": None if plan.slide == 1 else plan.slide,
            "least": plan.bounds.low if plan.bounds else None,
            "by": [column_text(name) for name in plan.partition_by],
        }
        return "count_window", settings, (plan.child,)

    def _granularityexec(self, plan: GranularityExec) -> Opened:
        coarsest = shown(plan.bounds.high, self.domain) if plan.bounds else ""
        settings: Settings = {"granule": shown(plan.granule, self.domain), "coarsest": coarsest}
        return "granularity", settings, (plan.child,)

    def _splitexec(self, plan: SplitExec) -> Opened:
        return "split", {"length": plan.length}, (plan.child,)

    def _rownumberexec(self, plan: RowNumberExec) -> Opened:
        return "row_number", {"name": plan.name}, (plan.child,)

    def _coalesceexec(self, plan: CoalesceExec) -> Opened:
        most = "" if plan.max_length is None else shown(plan.max_length, self.domain)
        return "coalesce", {"most": most}, (plan.child,)

    def _mergeexec(self, plan: MergeExec) -> Opened:
        return "merge", {"keys": [column_text(key) for key in plan.keys]}, (plan.child,)

    def _distinctexec(self, plan: DistinctExec) -> Opened:
        return "distinct", {"keys": _keys(plan, plan.keys)}, (plan.child,)

    def _countingexec(self, plan: CountingExec) -> Opened:
        return _KINDS[type(plan).__name__], {"keys": _keys(plan, plan.keys)}, plan.children

    def _aggregateexec(self, plan: AggregateExec) -> Opened:
        settings: Settings = {
            "keys": [column_text(key) for key in plan.keys],
            "aggregates": [call_text(call) for call in plan.calls],
        }
        return "aggregate", settings, (plan.child,)

    def _topkexec(self, plan: TopKExec) -> Opened:
        settings: Settings = {
            "order": [order_text(key) for key in plan.order],
            "limit": plan.limit,
            "offset": plan.offset or None,
        }
        return "top", settings, (plan.child,)

    def _joinexec(self, plan: JoinExec) -> Opened:
        keyed = [columns for columns in plan.keys if columns]
        equal = [
            f" {'<=>' if safe else '='} ".join(column_text(columns[at]) for columns in keyed)
            for at, safe in enumerate(plan.safe_keys)
        ]
        settings: Settings = {
            "keys": equal if plan.is_keyed else [],
            "condition": _all(plan.conditions),
            "method": "nested loop" if plan.buckets and set(plan.buckets) == {1} else "",
            "orders": "; ".join(" ".join(map(str, order)) for order in plan.orders),
        }
        return "join", settings, plan.inputs

    def _lookupexec(self, plan: LookupExec) -> Opened:
        text = "" if plan.condition is None else spelled(plan.condition.node)
        return "lookup", {"kind": plan.kind.value, "condition": text}, plan.children


def _patient(plan: Plan) -> Plan:
    if any(field.name == "eager" for field in fields(plan)):
        return replace(plan, eager=False)  # type: ignore[call-arg]
    return plan


def _keys(plan: Plan, keys: tuple[str, ...]) -> list[str]:
    return [] if keys == plan.schema.names else [column_text(key) for key in keys]


def _all(conditions: tuple[Scalar, ...]) -> str:
    texts = [spelled(condition.node) for condition in conditions]
    return " AND ".join(f"({text})" for text in texts) if len(texts) > 1 else "".join(texts)
