"""Parts of plans that are one thing to a user: sources, derived streams, outer joins."""

from __future__ import annotations

from dataclasses import dataclass

from tidemill.algebra import AntiJoin, Join, Plan, Project, Scalar, Scan, Union
from tidemill.analyze import Catalog, Derived, SourceInfo
from tidemill.analyze.joins import joined
from tidemill.analyze.references import source_plan
from tidemill.compose.logical.sources import derived_scan, scan_columns


@dataclass(frozen=True)
class Source:
    """A stream or relation under an alias; the columns of the plan, with their own names."""

    name: str
    alias: str
    columns: dict[str, str]
    with_time: bool = False


def source_of(plan: Plan, catalog: Catalog) -> Source | None:
    """The source that a plan reads and does nothing else with."""
    if isinstance(plan, Scan):
        return _scanned(plan, plan, catalog)
    if not isinstance(plan, Project):
        return None
    if isinstance(plan.child, Scan):
        return _scanned(plan, plan.child, catalog)
    return _derived(plan, catalog)


def _scanned(plan: Plan, scan: Scan, catalog: Catalog) -> Source | None:
    info = catalog.find(scan.source)
    if not isinstance(info, SourceInfo):
        return None
    with_time = info.time_column is not None and info.time_column in scan.columns
    columns = scan_columns(info, with_time)
    if source_plan(info, scan.alias, columns) != plan:
        return None
    names = {f"{scan.alias}.{name}": name for name in columns.names}
    return Source(info.name, scan.alias, names, with_time)


def _derived(plan: Project, catalog: Catalog) -> Source | None:
    for name in catalog.names:
        entry = catalog.find(name)
        if not isinstance(entry, Derived) or entry.plan != plan.child or not plan.items:
            continue
        first = entry.schema.names[0]
        alias = plan.items[0][0].removesuffix(f".{first}")
        if plan == derived_scan(entry, alias):
            own = {f"{alias}.{each}": each for each in entry.schema.names}
            return Source(entry.name, alias, own)
    return None


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
