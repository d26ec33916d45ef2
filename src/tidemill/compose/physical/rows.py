"""Operators that look at one input, row by row or instant by instant."""

from __future__ import annotations

import pyarrow as pa

from tidemill.algebra import Filter, Plan, Project
from tidemill.compose.bench import Bench
from tidemill.compose.model import wrong
from tidemill.compose.operators import Card, Setting
from tidemill.compose.physical.making import (
    LOGICAL,
    below,
    functions_of,
    operator_like,
    ordinary,
    waiting,
)
from tidemill.compose.physical.windows import steps
from tidemill.physical.lowering.items import used
from tidemill.physical.operators.coalesce import CoalesceExec
from tidemill.physical.operators.distinct import DistinctExec
from tidemill.physical.operators.filter import FilterExec
from tidemill.physical.operators.istream import DstreamExec, IstreamExec
from tidemill.physical.operators.merge import MergeExec
from tidemill.physical.operators.project import ProjectExec
from tidemill.physical.operators.row_number import RowNumberExec
from tidemill.physical.operators.snapshot import SnapshotExec


def _filter(bench: Bench) -> Plan:
    plan = LOGICAL["filter"].build(bench)
    assert isinstance(plan, Filter)
    return FilterExec(below(bench), plan.predicate, used(functions_of(bench), plan.predicate))


def _project(bench: Bench) -> Plan:
    plan = LOGICAL["project"].build(bench)
    assert isinstance(plan, Project)
    calls = used(functions_of(bench), *(scalar for _, scalar in plan.items))
    return ProjectExec(below(bench), plan.items, calls)


def keys_of(bench: Bench, name: str = "keys") -> tuple[str, ...]:
    """Columns of the input that tell rows apart; all of them if none is named."""
    stage = bench.stage(bench.plan)
    found = [bench.column(name, text, node, stage) for text, node in bench.expressions(name)]
    return tuple(found) or bench.plan.schema.names


def _distinct(bench: Bench) -> Plan:
    ordinary(bench)
    return DistinctExec(waiting(bench.plan), keys_of(bench))


def _coalesce(bench: Bench) -> Plan:
    ordinary(bench)
    return CoalesceExec(waiting(bench.plan), steps(bench, "most"))


def _merge(bench: Bench) -> Plan:
    ordinary(bench)
    keys = keys_of(bench) if bench.lines("keys") else ()
    return MergeExec(below(bench), keys)


def _snapshot(bench: Bench) -> Plan:
    ordinary(bench)
    return SnapshotExec(waiting(bench.plan))


def _row_number(bench: Bench) -> Plan:
    ordinary(bench)
    name = bench.text("name")
    if name in bench.plan.schema:
        raise wrong(f"the input already has a column `{name}`", "choose another name", "name")
    found = RowNumberExec(below(bench), name)
    assert found.schema[name] == pa.int64()
    return found


def _istream(bench: Bench) -> Plan:
    ordinary(bench)
    kind = IstreamExec if bench.operator.kind == "istream" else DstreamExec
    return kind(waiting(bench.plan))


KEYS = Setting(
    "keys",
    "By",
    "columns",
    "The columns that identify a row; by default all.",
    "item",
)

OPERATORS = (
    Card(
        "filter",
        "Filter",
        "rows",
        "Keeps the rows for which a condition is true.",
        _filter,
        LOGICAL["filter"].settings,
    ),
    Card(
        "project",
        "Project",
        "rows",
        "Selects columns and computes new ones.",
        _project,
        LOGICAL["project"].settings,
    ),
    operator_like("unnest", "Makes a row for each element of a list; it keeps no rows."),
    Card(
        "distinct",
        "Distinct",
        "rows",
        "For every row, gives the time that no earlier equal row covers.",
        _distinct,
        (KEYS,),
    ),
    Card(
        "coalesce",
        "Coalesce",
        "rows",
        "Merges equal rows that follow each other without a gap; it waits for them.",
        _coalesce,
        (
            Setting(
                "most",
                "Longest",
                "duration",
                "Rows that hold this long are not extended; by default there is no limit.",
                "1 HOUR",
            ),
        ),
    ),
    Card(
        "merge",
        "Merge",
        "rows",
        "Merges equal rows that touch and came in the same batch; it does not wait.",
        _merge,
        (
            Setting(
                "keys",
                "By",
                "columns",
                "Columns for which at most one row holds at a time; none if that is true of all.",
                "item",
            ),
        ),
    ),
    Card(
        "snapshot",
        "Snapshot",
        "rows",
        "With every tick, all rows that hold at the newest complete instant.",
        _snapshot,
    ),
    Card(
        "row_number",
        "Row number",
        "rows",
        "Numbers the rows, so that equal rows can be distinguished.",
        _row_number,
        (Setting("name", "Name", "text", "The name of the column.", "number", required=True),),
    ),
    Card(
        "istream",
        LOGICAL["istream"].title,
        "streams",
        "The copies of rows that come, at the instant at which they come.",
        _istream,
    ),
    Card(
        "dstream",
        LOGICAL["dstream"].title,
        "streams",
        "The copies of rows that go, at the last instant at which they hold.",
        _istream,
    ),
)
