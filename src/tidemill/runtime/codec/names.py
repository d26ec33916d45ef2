"""The classes that durable files may name, with the version of what is written of them.

A name is where a class was when it was first written, and never changes; a class that moves keeps
its old name here. Raise a version when fields change their meaning, and teach `Decoder` the old
ones: tests/golden/state keeps files that must stay readable.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

_CLASSES = {
    "algebra.adjusting": "Bounds",
    "algebra.aggregates": "AggregateCall",
    "algebra.nodes": "Scan SortKey SourceKind",
    "algebra.promises": "Range Recurrence",
    "algebra.ranking": "Promise Ranked Strategy",
    "algebra.scalar": "Scalar",
    "algebra.schema": "Field Schema",
    "algebra.star": "Policy Shedding",
    "feeds.slices": "FileSlice",
    "fragments.exchange": "ExchangeExec Mode",
    "fragments.late": "LateRowsExec",
    "fragments.stages": "Edge EdgeExec Stage Staged",
    "fragments.staging": "Staging",
    "fragments.together": "Placed Together",
    "physical.aggregate.calls": "_Additive _Extreme _User",
    "physical.aggregate.extremes": "Extremes _Chain",
    "physical.aggregate.operator": "AggregateExec _Aggregate",
    "physical.aggregate.user": "UserState",
    "physical.calendar": "Calendar Entries",
    "physical.coalesce": "CoalesceExec _Coalesce",
    "physical.count_window": "CountWindowExec _CountWindow",
    "physical.counting": "_Copies _Counting",
    "physical.distinct": "DistinctExec _Distinct",
    "physical.filter": "FilterExec _Filter",
    "physical.fuse": "FuseExec _Fuse",
    "physical.granularity": "GranularityExec _Granularity",
    "physical.hash_index": "HashIndex",
    "physical.istream": "DstreamExec IstreamExec _Arrivals _Departures",
    "physical.join.node": "JoinExec",
    "physical.join.operator": "JoinOperator",
    "physical.join.side": "SortedRun Side",
    "physical.keys": "KeyTable",
    "physical.ledger": "Ledger",
    "physical.lookup.lists": "RowLists Numbers",
    "physical.lookup.node": "LookupExec LookupKind",
    "physical.lookup.operator": "InnerLookup PartnerLookup",
    "physical.lookup.relation": "Relation",
    "physical.merge": "MergeExec _Merge",
    "physical.net_changes": "ChangesExec _Changes",
    "physical.operator": "Waiting",
    "physical.project": "ProjectExec _Project",
    "physical.ranking.appearance": "Appearances",
    "physical.ranking.approximate": "ApproximateRank",
    "physical.ranking.audit": "Audit",
    "physical.ranking.kernel.view": "RankingState",
    "physical.ranking.known": "KnownObjects",
    "physical.ranking.likely": "Likely",
    "physical.ranking.lists": "SortedLists _List",
    "physical.ranking.node": "RankExec",
    "physical.ranking.operator": "Rank",
    "physical.ranking.queue": "Queue",
    "physical.ranking.rows": "ScoreColumn Objects RankingRows",
    "physical.ranking.sorted": "SortedRank",
    "physical.ranking.view": "RankingView",
    "physical.ranking.window": "Window",
    "physical.reference_point": "ReferencePointExec _ReferencePoint",
    "physical.release": "Release",
    "physical.row_number": "RowNumberExec _RowNumber",
    "physical.rows": "RowStore",
    "physical.sets": "DifferenceExec IntersectionExec MaxUnionExec StrictDifferenceExec",
    "physical.snapshot": "SnapshotExec _Snapshot",
    "physical.source": "SourceExec",
    "physical.split": "SplitExec _Split",
    "physical.star.assignment": "AssignPartitionExec _Assignment",
    "physical.star.layout": "ShedRule StarState",
    "physical.star.node": "StarJoinExec",
    "physical.star.operator": "StarJoinOperator",
    "physical.star.versions": "Versions",
    "physical.star.windows": "Windows",
    "physical.time_window": "TimeWindowExec _TimeWindow",
    "physical.topk.firsts": "Firsts",
    "physical.topk.labels": "Labels _Run",
    "physical.topk.layout": "TopKState",
    "physical.topk.node": "TopKExec _TopK",
    "physical.topk.order": "RowOrder _Column",
    "physical.touching": "Pieces",
    "physical.union": "UnionExec _Union",
    "physical.versions": "VersionsExec _Versions",
    "results.requests": "SinkRequest",
    "runtime.clock": "Seen",
    "runtime.epochs": "Epoch",
    "runtime.interface": "Job Root",
    "runtime.operator_progress": "OperatorProgress",
    "runtime.reports": "TaskFailure Report",
    "runtime.state": "TickRows",
    "runtime.statistics.sketch": "Sketch",
    "runtime.statistics.sources": "SourceSample ValiditySample",
    "runtime.ticks": "Committed",
    "timeline": "TimeDomain",
}

_MOVED = {
    "physical.ranking.rows.ScoreColumn": "physical.ranking.rows.Column",
    "runtime.reports.TaskFailure": "runtime.reports.Failure",
    "physical.ranking.known.KnownObjects": "physical.ranking.known.Known",
    "physical.lookup.lists.RowLists": "physical.lookup.lists.Lists",
    "physical.ranking.rows.RankingRows": "physical.ranking.rows.Rows",
    "physical.star.layout.ShedRule": "physical.star.layout.Rule",
    "physical.join.side.SortedRun": "physical.join.side.Run",
    "physical.topk.layout.TopKState": "physical.topk.layout.State",
    "physical.ranking.kernel.view.RankingState": "physical.ranking.kernel.view.State",
    "physical.star.layout.StarState": "physical.star.layout.State",
    "physical.ranking.view.RankingView": "physical.ranking.view.View",
    "physical.sets.DifferenceExec": "physical.difference.DifferenceExec",
    "physical.sets.IntersectionExec": "physical.intersection.IntersectionExec",
    "physical.sets.MaxUnionExec": "physical.max_union.MaxUnionExec",
    "physical.sets.StrictDifferenceExec": "physical.strict_difference.StrictDifferenceExec",
    "runtime.operator_progress.OperatorProgress": "runtime.operators.NodeProgress",
    "runtime.statistics.sketch.Sketch": "runtime.sketch.Sketch",
    "runtime.statistics.sources.SourceSample": "runtime.gathering.Found",
    "runtime.statistics.sources.ValiditySample": "runtime.gathering.Sample",
}
"""Where classes were when they were first written, by where they are."""

_ATTRIBUTES = {
    "runtime.operators.NodeProgress": {"operator": "label", "rows_by_input": "rows_in"},
}
"""Attributes that files have under the names that they had first."""

_VERSIONS: dict[str, int] = {}
"""Those of classes that have changed; all others are at version 1."""

_PLACES = {
    _MOVED.get(place, place): place
    for module, names in _CLASSES.items()
    for place in (f"{module}.{name}" for name in names.split())
}
"""Where the classes are, by their names."""

NAMES = frozenset(_PLACES)
"""All names, for tests."""


def name_of(kind: type[Any]) -> str | None:
    """The name of a class in files, if it may be there."""
    place = f"{kind.__module__}.{kind.__qualname__}".removeprefix("tidemill.")
    name = _MOVED.get(place, place)
    return name if name in NAMES else None


@cache
def class_of(name: str) -> type[Any] | None:
    """The class of a name, if it is one of ours."""
    if name not in NAMES:
        return None
    module, _, own = _PLACES[name].rpartition(".")
    found: type[Any] = getattr(import_module(f"tidemill.{module}"), own)
    return found


def class_version(name: str) -> int:
    """The version in which objects of a class are written now."""
    return _VERSIONS.get(name, 1)


def attribute_name(name: str, attribute: str) -> str:
    """How files call an attribute of the class of a name."""
    return _ATTRIBUTES.get(name, {}).get(attribute, attribute)


def remembered(kind: type[Any]) -> tuple[str, ...] | None:
    """The attributes that make up the state of a class; None if it is not one with a state.

    Classes name theirs in `STATE`; those of the classes below count too.
    """
    own = [each.__dict__["STATE"] for each in reversed(kind.__mro__) if "STATE" in each.__dict__]
    return tuple(dict.fromkeys(name for names in own for name in names)) if own else None
