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
    "algebra.over_rows": "OverCall RowFrame",
    "algebra.promises": "Range Recurrence",
    "algebra.ranking": "Promise Ranked Strategy",
    "algebra.scalar": "Scalar",
    "algebra.schema": "Field Schema",
    "algebra.star": "Policy Shedding",
    "connectors.feeds.slices": "FileSlice",
    "connectors.sinks.requests": "SinkRequest",
    "physical.mechanisms.calendar": "Calendar Entries",
    "physical.mechanisms.hash_index": "HashIndex",
    "physical.mechanisms.keys": "KeyTable",
    "physical.mechanisms.ledger": "Ledger",
    "physical.mechanisms.release": "Release",
    "physical.mechanisms.rows": "RowStore",
    "physical.mechanisms.touching": "Pieces",
    "physical.operator": "Waiting",
    "physical.operators.aggregate.calls": "_Additive _Extreme _User",
    "physical.operators.aggregate.extremes": "Extremes _Chain",
    "physical.operators.aggregate.operator": "AggregateExec _Aggregate",
    "physical.operators.aggregate.user": "UserState",
    "physical.operators.coalesce": "CoalesceExec _Coalesce",
    "physical.operators.count_window": "CountWindowExec _CountWindow",
    "physical.operators.counting": "_Copies _Counting",
    "physical.operators.distinct": "DistinctExec _Distinct",
    "physical.operators.filter": "FilterExec _Filter",
    "physical.operators.fuse": "FuseExec _Fuse",
    "physical.operators.granularity": "GranularityExec _Granularity",
    "physical.operators.istream": "DstreamExec IstreamExec _Arrivals _Departures",
    "physical.operators.join.node": "JoinExec",
    "physical.operators.join.operator": "JoinOperator",
    "physical.operators.join.side": "SortedRun Side",
    "physical.operators.lookup.lists": "RowLists Numbers",
    "physical.operators.lookup.node": "LookupExec LookupKind",
    "physical.operators.lookup.operator": "InnerLookup PartnerLookup",
    "physical.operators.lookup.relation": "Relation",
    "physical.operators.merge": "MergeExec _Merge",
    "physical.operators.net_changes": "ChangesExec _Changes",
    "physical.operators.over_rows.held": "HeldRows",
    "physical.operators.over_rows.node": "OverRowsExec _OverRows",
    "physical.operators.pick": "PickExec _Pick",
    "physical.operators.project": "ProjectExec _Project",
    "physical.operators.ranking.appearance": "Appearances",
    "physical.operators.ranking.approximate": "ApproximateRank",
    "physical.operators.ranking.audit": "Audit",
    "physical.operators.ranking.kernel.view": "RankingState",
    "physical.operators.ranking.known": "KnownObjects",
    "physical.operators.ranking.likely": "Likely",
    "physical.operators.ranking.lists": "SortedLists _List",
    "physical.operators.ranking.node": "RankExec",
    "physical.operators.ranking.operator": "Rank",
    "physical.operators.ranking.queue": "Queue",
    "physical.operators.ranking.rows": "ScoreColumn Objects RankingRows",
    "physical.operators.ranking.sorted": "SortedRank",
    "physical.operators.ranking.view": "RankingView",
    "physical.operators.ranking.window": "Window",
    "physical.operators.reference_point": "ReferencePointExec _ReferencePoint",
    "physical.operators.row_number": "RowNumberExec _RowNumber",
    "physical.operators.session_window": "SessionWindowExec _SessionWindow",
    "physical.operators.sets": "DifferenceExec IntersectionExec MaxUnionExec StrictDifferenceExec",
    "physical.operators.snapshot": "SnapshotExec _Snapshot",
    "physical.operators.source": "SourceExec",
    "physical.operators.split": "SplitExec _Split",
    "physical.operators.star.assignment": "AssignPartitionExec _Assignment",
    "physical.operators.star.layout": "ShedRule StarState",
    "physical.operators.star.node": "StarJoinExec",
    "physical.operators.star.operator": "StarJoinOperator",
    "physical.operators.star.versions": "Versions",
    "physical.operators.star.windows": "Windows",
    "physical.operators.time_window": "TimeWindowExec _TimeWindow",
    "physical.operators.topk.firsts": "Firsts",
    "physical.operators.topk.labels": "Labels _Run",
    "physical.operators.topk.layout": "TopKState",
    "physical.operators.topk.node": "TopKExec _TopK",
    "physical.operators.topk.order": "RowOrder _Column",
    "physical.operators.union": "UnionExec _Union",
    "physical.operators.unnest": "UnnestExec _Unnest",
    "physical.operators.versions": "VersionsExec _Versions",
    "runtime.clock": "Seen",
    "runtime.epochs": "Epoch",
    "runtime.interface": "Job Root",
    "runtime.operator_progress": "OperatorProgress",
    "runtime.reports": "TaskFailure TaskReport",
    "runtime.state": "TickRows",
    "runtime.statistics.sketch": "Sketch",
    "runtime.statistics.sources": "SourceSample ValiditySample",
    "runtime.ticks": "Committed",
    "stages.colocation": "Placed Together",
    "stages.exchange": "ExchangeExec Mode",
    "stages.late": "LateRowsExec",
    "stages.stages": "Exchange ReceiveExec Stage Staged",
    "stages.staging": "Staging",
    "timeline": "TimeDomain",
}

_MOVED = {
    "runtime.reports.TaskReport": "runtime.reports.Report",
    "stages.stages.Exchange": "fragments.stages.Edge",
    "stages.stages.ReceiveExec": "fragments.stages.EdgeExec",
    "physical.operators.ranking.rows.ScoreColumn": "physical.ranking.rows.Column",
    "runtime.reports.TaskFailure": "runtime.reports.Failure",
    "physical.operators.ranking.known.KnownObjects": "physical.ranking.known.Known",
    "physical.operators.lookup.lists.RowLists": "physical.lookup.lists.Lists",
    "physical.operators.ranking.rows.RankingRows": "physical.ranking.rows.Rows",
    "physical.operators.star.layout.ShedRule": "physical.star.layout.Rule",
    "physical.operators.join.side.SortedRun": "physical.join.side.Run",
    "physical.operators.topk.layout.TopKState": "physical.topk.layout.State",
    "physical.operators.ranking.kernel.view.RankingState": "physical.ranking.kernel.view.State",
    "physical.operators.star.layout.StarState": "physical.star.layout.State",
    "physical.operators.ranking.view.RankingView": "physical.ranking.view.View",
    "physical.operators.sets.DifferenceExec": "physical.difference.DifferenceExec",
    "physical.operators.sets.IntersectionExec": "physical.intersection.IntersectionExec",
    "physical.operators.sets.MaxUnionExec": "physical.max_union.MaxUnionExec",
    "runtime.operator_progress.OperatorProgress": "runtime.operators.NodeProgress",
    "runtime.statistics.sketch.Sketch": "runtime.sketch.Sketch",
    "runtime.statistics.sources.SourceSample": "runtime.gathering.Found",
    "runtime.statistics.sources.ValiditySample": "runtime.gathering.Sample",
}
_MOVED["physical.operators.sets.StrictDifferenceExec"] = (
    "physical.strict_difference.StrictDifferenceExec"
)
"""Where classes were when they were first written, by where they are."""

_ATTRIBUTES = {
    "fragments.stages.Staged": {"exchanges": "edges"},
    "runtime.epochs.Epoch": {"repartitions": "deals"},
    "runtime.operators.NodeProgress": {"operator": "label", "rows_by_input": "rows_in"},
}
"""Attributes that files have under the names that they had first."""

_ROOMS = {
    "connectors.feeds": "feeds",
    "connectors.sinks": "results",
    "physical.mechanisms": "physical",
    "physical.operators": "physical",
    "stages": "fragments",
    "stages.colocation": "fragments.together",
}
"""Where whole packages and modules were, by where they are."""

_VERSIONS: dict[str, int] = {}
"""Those of classes that have changed; all others are at version 1."""


def _name(place: str) -> str:
    """What files call the class that is in a place."""
    if place in _MOVED:
        return _MOVED[place]
    rooms = (room for room in _ROOMS if place.startswith(f"{room}."))
    room = max(rooms, key=len, default="")
    return _ROOMS[room] + place.removeprefix(room) if room else place


_PLACES = {
    _name(place): place
    for module, names in _CLASSES.items()
    for place in (f"{module}.{name}" for name in names.split())
}
"""Where the classes are, by their names."""

NAMES = frozenset(_PLACES)
"""All names, for tests."""


def name_of(kind: type[Any]) -> str | None:
    """The name of a class in files, if it may be there."""
    place = f"{kind.__module__}.{kind.__qualname__}".removeprefix("tidemill.")
    name = _name(place)
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
