"""Parts of plans that are one thing to a user: sources, derived streams, outer joins."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tidemill.algebra import (
    Aggregate,
    AntiJoin,
    CountWindow,
    Join,
    Plan,
    Project,
    Scalar,
    Scan,
    TimeWindow,
    Union,
)
from tidemill.algebra.plan import operands
from tidemill.algebra.promises import presented
from tidemill.analyze.joins import joined
from tidemill.analyze.references import source_plan
from tidemill.catalog import Catalog, Derived, SourceInfo
from tidemill.compose.scans import derived_scan, scan_columns


@dataclass(frozen=True)
class RecognisedSource:
    """A stream or relation under an alias; the columns of the plan, with their own names."""

    name: str
    alias: str
    columns: dict[str, str]
    with_time: bool = False


def source_of(plan: Plan, catalog: Catalog) -> RecognisedSource | None:
    """The source that a plan reads and does nothing else with."""
    if isinstance(plan, Scan):
        return _scanned(plan, plan, catalog)
    if not isinstance(plan, Project):
        return None
    if isinstance(plan.child, Scan):
        return _scanned(plan, plan.child, catalog)
    return _derived(plan, catalog)


def _scanned(plan: Plan, scan: Scan, catalog: Catalog) -> RecognisedSource | None:
    info = catalog.find(scan.source)
    if not isinstance(info, SourceInfo):
        return None
    with_time = info.time_column is not None and info.time_column in scan.columns
    columns = scan_columns(info, with_time)
    if source_plan(info, scan.alias, columns) != plan:
        return None
    names = {f"{scan.alias}.{name}": name for name in columns.names}
    return RecognisedSource(info.name, scan.alias, names, with_time)


def _derived(plan: Project, catalog: Catalog) -> RecognisedSource | None:
    for name in catalog.names:
        entry = catalog.find(name)
        if not isinstance(entry, Derived) or entry.plan != plan.child or not plan.items:
            continue
        first = entry.schema.names[0]
        alias = plan.items[0][0].removesuffix(f".{first}")
        if plan == derived_scan(entry, alias):
            own = {f"{alias}.{each}": each for each in entry.schema.names}
            return RecognisedSource(entry.name, alias, own)
    return None


@dataclass(frozen=True)
class RecognisedObjects:
    """What streams tell about objects: the streams, what names an object, and the window."""

    streams: tuple[Plan, ...]
    keys: tuple[str, ...]
    alias: str
    window: TimeWindow | CountWindow
    columns: tuple[str, ...]


def objects_of(plan: Plan, catalog: Catalog) -> RecognisedObjects | None:
    """The streams and so on, if a plan is OBJECTS(...)."""
    if not isinstance(plan, Project) or not isinstance(plan.child, Aggregate):
        return None
    grouped, window = plan.child, plan.child.child
    if not isinstance(window, TimeWindow | CountWindow) or window.slide != 1:
        return None
    if isinstance(window, TimeWindow) and window.delay:
        return None
    parts = list(operands(window.child, Union))
    if not all(isinstance(part, Project) and _is_present(part, grouped) for part in parts):
        return None
    alias = plan.items[0][0].removesuffix(f".{grouped.keys[0]}")
    told = [name for name, _ in plan.items[len(grouped.keys) :]]
    streams = tuple(_promised(part.children[0], catalog) for part in parts)
    return RecognisedObjects(streams, grouped.keys, alias, window, tuple(told))


def _is_present(part: Project, grouped: Aggregate) -> bool:
    """Whether the values of keys must not be NULL, which only OBJECTS(...) asks for."""
    items = dict(part.items)
    keys = [items[key].node for key in grouped.keys if key in items]
    return bool(keys) and all(presented(node) is not node for node in keys)


def _promised(plan: Plan, catalog: Catalog) -> Plan:
    """A stream with the promises of its source; OBJECTS(...) adds the usual one."""

    def change(node: Plan) -> Plan:
        info = catalog.find(node.source) if isinstance(node, Scan) else None
        if isinstance(node, Scan) and isinstance(info, SourceInfo):
            return replace(node, recurs=info.recurs)
        return node

    return plan.rewrite(change)


Outer = tuple[Plan, Plan, Scalar | None, str]


def outer_join(plan: Plan) -> Outer | None:
    """The inputs, the condition and the side of an outer join, if a plan is one."""
    if not isinstance(plan, Union):
        return None
    inner = plan.left.left if isinstance(plan.left, Union) else plan.left
    if not isinstance(inner, Join) or not isinstance(plan.right, Project):
        return None
    if not isinstance(plan.right.child, AntiJoin):
        return None
    for kind in ("LEFT", "RIGHT", "FULL"):
        if joined(inner.left, inner.right, inner.condition, kind) == plan:
            return inner.left, inner.right, inner.condition, kind
    return None
