"""Where rows come from."""

from __future__ import annotations

from dataclasses import replace

from tidemill.algebra import Plan, Scan, Schema, SourceKind
from tidemill.analyze.references import source_plan
from tidemill.catalog import SourceInfo
from tidemill.compose.bench import Bench
from tidemill.compose.logical.sources import alias_of
from tidemill.compose.model import about, wrong
from tidemill.compose.operators import Card, Setting
from tidemill.compose.physical.making import LOGICAL, below, functions_of, is_raw, version_of
from tidemill.compose.scans import AS_COLUMN, scan_columns
from tidemill.errors import CatalogError, nearest
from tidemill.physical.lowering import lower
from tidemill.physical.operators.source import SourceExec
from tidemill.physical.operators.versions import VersionsExec


def _source(bench: Bench) -> Plan:
    name = bench.text("source")
    with about("source"):
        info = bench.catalog.lookup(name)
        if not isinstance(info, SourceInfo):
            help = "a query defines it: compose that query, or open it"
            raise CatalogError(f"`{info.name}` is derived, not a source", help=help)
    bench.context.depends_on.add(info.name)
    bench.context.domain = info.domain
    alias = alias_of(bench, info.name)
    plan = source_plan(info, alias, scan_columns(info, bench.choice("time") == AS_COLUMN))
    if not bench.lines("columns"):
        return lower(plan, functions_of(bench)) if not _is_changing(info) else _raw(plan)
    scan = next(node for node in plan.walk() if isinstance(node, Scan))
    return SourceExec(replace(scan, columns=_chosen(bench, scan)))


def _is_changing(info: SourceInfo) -> bool:
    return info.kind is SourceKind.CHANGING


def _raw(plan: Plan) -> Plan:
    """The changes of a relation: insertions and deletions, which not all operators understand."""
    scan = next(node for node in plan.walk() if isinstance(node, Scan))
    return SourceExec(scan)


def _chosen(bench: Bench, scan: Scan) -> Schema:
    known = {name.casefold(): name for name in scan.columns.names}
    names = [part.strip(" `") for line in bench.lines("columns") for part in line.split(",")]
    for name in names:
        if name.casefold() not in known:
            near = nearest(name, known.values())
            guess = f"did you mean `{near}`? " if near else ""
            columns = ", ".join(n for n in known.values() if not n.startswith("#"))
            raise wrong(f"unknown column `{name}`", f"{guess}columns: {columns}", "columns")
    wanted = {known[name.casefold()] for name in names}
    kept = [name for name in scan.columns.names if name in wanted or name.startswith("#")]
    return scan.columns.select(kept)


def _versions(bench: Bench) -> Plan:
    version = version_of(bench.plan)
    if version is None or not is_raw(bench.plan):
        help = "put it above the Source of a CHANGING relation"
        raise wrong("the input has no changes of a relation", help, input=0)
    return VersionsExec(below(bench), version)


OPERATORS = (
    Card(
        "source",
        "Source",
        "sources",
        "Reads only the needed columns of a stream or a relation.",
        _source,
        (
            *LOGICAL["scan"].settings,
            Setting(
                "columns",
                "Columns",
                "columns",
                "The columns to read; by default all.",
                "item, price",
            ),
        ),
        least=0,
        most=0,
    ),
    Card(
        "versions",
        "Versions",
        "sources",
        "Turns the insertions and deletions of a relation into rows with a validity.",
        _versions,
    ),
)
