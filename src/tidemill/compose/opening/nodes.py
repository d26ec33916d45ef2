"""Single nodes of plans as composed ones.

A logical node and the operator that runs it have the same settings under the same names, so that
one function opens both.
"""

from __future__ import annotations

from functools import singledispatch

from tidemill.algebra import (
    Aggregate,
    CountWindow,
    Distinct,
    Dstream,
    Filter,
    Granularity,
    Istream,
    OverRows,
    Plan,
    Project,
    Rstream,
    Scalar,
    SessionWindow,
    TimeWindow,
    TopK,
    Unnest,
)
from tidemill.algebra.nodes import Conditional
from tidemill.algebra.ranking import CONFIDENCE
from tidemill.algebra.sets import SetOperation
from tidemill.analyze.windows import shown
from tidemill.compose.model import Value
from tidemill.compose.opening.said import call_text, order_text, typed
from tidemill.compose.operators import kind_name
from tidemill.compose.sql.over_rows import over_call
from tidemill.compose.texts import column_text, identifier, scalar_text, spelled
from tidemill.errors import UnsupportedError
from tidemill.physical.operator import Exec
from tidemill.physical.operators.aggregate import AggregateExec
from tidemill.physical.operators.coalesce import CoalesceExec
from tidemill.physical.operators.count_window import CountWindowExec
from tidemill.physical.operators.counting import CountingExec
from tidemill.physical.operators.distinct import DistinctExec
from tidemill.physical.operators.filter import FilterExec
from tidemill.physical.operators.granularity import GranularityExec
from tidemill.physical.operators.istream import DstreamExec, IstreamExec
from tidemill.physical.operators.join import JoinExec
from tidemill.physical.operators.lookup import LookupExec
from tidemill.physical.operators.merge import MergeExec
from tidemill.physical.operators.over_rows import OverRowsExec
from tidemill.physical.operators.project import ProjectExec
from tidemill.physical.operators.row_number import RowNumberExec
from tidemill.physical.operators.session_window import SessionWindowExec
from tidemill.physical.operators.snapshot import SnapshotExec
from tidemill.physical.operators.split import SplitExec
from tidemill.physical.operators.time_window import TimeWindowExec
from tidemill.physical.operators.topk import TopKExec
from tidemill.physical.operators.union import UnionExec
from tidemill.physical.operators.unnest import UnnestExec
from tidemill.physical.operators.versions import VersionsExec
from tidemill.sql import Tidemill
from tidemill.timeline import TimeDomain

Settings = dict[str, Value]
OpenSources = tuple[str, Settings, tuple[Plan, ...]]
"""A kind of node, its settings, and its inputs."""


def opened(plan: Plan, domain: TimeDomain) -> OpenSources:
    """One node, whose lengths of time are shown in a domain."""
    kind, settings = settings_of(plan, domain)
    # Inputs of distinct values follow from the calls of an aggregate.
    return kind, settings, plan.children[:1] if isinstance(plan, AggregateExec) else plan.children


@singledispatch
def settings_of(plan: Plan, domain: TimeDomain) -> tuple[str, Settings]:
    """The kind and the settings of a node; each class of nodes registers its own."""
    other = "logical" if isinstance(plan, Exec) else "physical"
    message = f"{type(plan).__name__} cannot be composed by hand"
    raise UnsupportedError(message, help=f"open the {other} plan of the query")


@settings_of.register(Distinct)
@settings_of.register(Dstream)
@settings_of.register(DstreamExec)
@settings_of.register(Istream)
@settings_of.register(IstreamExec)
@settings_of.register(Rstream)
@settings_of.register(SetOperation)
@settings_of.register(SnapshotExec)
@settings_of.register(UnionExec)
@settings_of.register(VersionsExec)
def _plain(plan: Plan, domain: TimeDomain) -> tuple[str, Settings]:
    return kind_name(type(plan)), {}


@settings_of.register(Filter)
@settings_of.register(FilterExec)
def _filter(plan: Filter | FilterExec, domain: TimeDomain) -> tuple[str, Settings]:
    return "filter", {"condition": spelled(plan.predicate.node)}


@settings_of.register(Project)
@settings_of.register(ProjectExec)
def _project(plan: Project | ProjectExec, domain: TimeDomain) -> tuple[str, Settings]:
    return "project", {"columns": [scalar_text(typed(item), name) for name, item in plan.items]}


@settings_of.register(Unnest)
@settings_of.register(UnnestExec)
def _unnest(plan: Unnest | UnnestExec, domain: TimeDomain) -> tuple[str, Settings]:
    whole = plan.kept == plan.child.schema.names
    return "unnest", {
        "list": spelled(plan.values.node),
        "element": plan.element,
        "place": plan.ordinal or "",
        "empty": "kept" if plan.outer else "",
        "keep": "" if whole else "some",
        "columns": [] if whole else _columns(plan.kept),
    }


@settings_of.register(OverRows)
@settings_of.register(OverRowsExec)
def _over_rows(plan: OverRows | OverRowsExec, domain: TimeDomain) -> tuple[str, Settings]:
    said = ((over_call(plan, call, lambda each: each.node.copy()), call) for call in plan.calls)
    functions = [
        f"{spelled(node)} AS {identifier(call.name).sql(dialect=Tidemill)}" for node, call in said
    ]
    return "over_rows", {"functions": functions}


@settings_of.register(TimeWindow)
@settings_of.register(TimeWindowExec)
def _time_window(plan: TimeWindow | TimeWindowExec, domain: TimeDomain) -> tuple[str, Settings]:
    slide = "" if plan.slide == 1 else shown(plan.slide, domain)
    delay = shown(plan.delay, domain) if plan.delay else ""
    if plan.size is None and isinstance(plan, TimeWindow):
        return "unbounded_window", {"slide": slide, "delay": delay}
    return "time_window", {
        "size": "UNBOUNDED" if plan.size is None else shown(plan.size, domain),
        "slide": slide,
        "least": shown(plan.bounds.low, domain) if plan.bounds else "",
        "delay": delay,
    }


@settings_of.register(CountWindow)
@settings_of.register(CountWindowExec)
def _count_window(plan: CountWindow | CountWindowExec, domain: TimeDomain) -> tuple[str, Settings]:
    partitioned = isinstance(plan, CountWindow) and plan.partition_by
    return "partitioned_window" if partitioned else "count_window", {
        "by": _columns(plan.partition_by),
        "rows": "UNBOUNDED" if plan.rows is None else plan.rows,
        "slide": None if plan.slide == 1 else plan.slide,
        "least": plan.bounds.low if plan.bounds else None,
    }


@settings_of.register(SessionWindow)
@settings_of.register(SessionWindowExec)
def _session_window(
    plan: SessionWindow | SessionWindowExec, domain: TimeDomain
) -> tuple[str, Settings]:
    by = _columns(plan.partition_by)
    return "session_window", {"gap": shown(plan.gap, domain), "by": by}


@settings_of.register(Granularity)
@settings_of.register(GranularityExec)
def _granularity(plan: Granularity | GranularityExec, domain: TimeDomain) -> tuple[str, Settings]:
    coarsest = shown(plan.bounds.high, domain) if plan.bounds else ""
    return "granularity", {"granule": shown(plan.granule, domain), "coarsest": coarsest}


@settings_of.register(Aggregate)
@settings_of.register(AggregateExec)
def _aggregate(plan: Aggregate | AggregateExec, domain: TimeDomain) -> tuple[str, Settings]:
    calls = [call_text(call) for call in plan.calls]
    return "aggregate", {"keys": _columns(plan.keys), "aggregates": calls}


@settings_of.register(TopK)
@settings_of.register(TopKExec)
def _top(plan: TopK | TopKExec, domain: TimeDomain) -> tuple[str, Settings]:
    settings: Settings = {
        "order": [order_text(key) for key in plan.order],
        "limit": plan.limit,
        "offset": plan.offset or None,
    }
    if isinstance(plan, TopK) and plan.approximate is not None:
        settings["answer"] = "approximate"
        usual = plan.approximate == CONFIDENCE
        settings["confidence"] = None if usual else plan.approximate
    return "top", settings


@settings_of.register
def _conditional(plan: Conditional, domain: TimeDomain) -> tuple[str, Settings]:
    text = "" if plan.condition is None else spelled(plan.condition.node)
    return kind_name(type(plan)), {"condition": text}


@settings_of.register(CountingExec)
@settings_of.register(DistinctExec)
def _keyed(plan: CountingExec | DistinctExec, domain: TimeDomain) -> tuple[str, Settings]:
    whole = plan.keys == plan.schema.names
    return kind_name(type(plan)), {"keys": [] if whole else _columns(plan.keys)}


@settings_of.register
def _merge(plan: MergeExec, domain: TimeDomain) -> tuple[str, Settings]:
    return "merge", {"keys": _columns(plan.keys)}


@settings_of.register
def _split(plan: SplitExec, domain: TimeDomain) -> tuple[str, Settings]:
    return "split", {"length": plan.length}


@settings_of.register
def _row_number(plan: RowNumberExec, domain: TimeDomain) -> tuple[str, Settings]:
    return "row_number", {"name": plan.name}


@settings_of.register
def _coalesce(plan: CoalesceExec, domain: TimeDomain) -> tuple[str, Settings]:
    return "coalesce", {"most": "" if plan.max_length is None else shown(plan.max_length, domain)}


@settings_of.register
def _join(plan: JoinExec, domain: TimeDomain) -> tuple[str, Settings]:
    keyed = [columns for columns in plan.keys if columns]
    equal = [
        f" {'<=>' if safe else '='} ".join(column_text(columns[at]) for columns in keyed)
        for at, safe in enumerate(plan.safe_keys)
    ]
    return "join", {
        "keys": equal if plan.is_keyed else [],
        "condition": _all(plan.conditions),
        "method": "nested loop" if plan.buckets and set(plan.buckets) == {1} else "",
        "orders": "; ".join(" ".join(map(str, order)) for order in plan.orders),
    }


@settings_of.register
def _lookup(plan: LookupExec, domain: TimeDomain) -> tuple[str, Settings]:
    text = "" if plan.condition is None else spelled(plan.condition.node)
    return "lookup", {"kind": plan.kind.value, "condition": text}


def _columns(names: tuple[str, ...]) -> list[str]:
    return [column_text(name) for name in names]


def _all(conditions: tuple[Scalar, ...]) -> str:
    texts = [spelled(condition.node) for condition in conditions]
    return " AND ".join(f"({text})" for text in texts) if len(texts) > 1 else "".join(texts)
