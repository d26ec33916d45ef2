"""From a physical plan to the logical one that it means, in operators that SQL has words for."""

from __future__ import annotations

from functools import reduce, singledispatch

from tidemill.algebra import (
    AntiJoin,
    Filter,
    Join,
    MultiJoin,
    Plan,
    Project,
    Ranking,
    Scan,
    SemiJoin,
    column,
)
from tidemill.algebra.plan import Memo
from tidemill.analyze.references import source_plan
from tidemill.catalog import Catalog, SourceInfo
from tidemill.compose.scans import scan_columns
from tidemill.compose.sql import CannotSay
from tidemill.physical.operator import Exec
from tidemill.physical.operators.distinct import DistinctExec
from tidemill.physical.operators.join import JoinExec
from tidemill.physical.operators.project import ProjectExec
from tidemill.physical.operators.row_number import RowNumberExec
from tidemill.physical.operators.sets import StrictDifferenceExec


def meaning_of(plan: Exec, catalog: Catalog) -> Plan:
    """The logical plan with the same answers; an error if logical operators cannot say it.

    >>> import pyarrow as pa
    >>> from tidemill.algebra import Scan, Schema
    >>> from tidemill.physical.operators.coalesce import CoalesceExec
    >>> from tidemill.physical.operators.source import SourceExec
    >>> from tidemill.physical.operators.time_window import TimeWindowExec
    >>> catalog = Catalog()
    >>> catalog.add_source(SourceInfo("bid", Schema.of(item=pa.int64())))
    >>> bid = SourceExec(Scan("bid", "bid", Schema.of(item=pa.int64())))
    >>> print(meaning_of(CoalesceExec(TimeWindowExec(bid, 5)), catalog))
    01 TimeWindow range=5
    02   Scan bid columns=[item]
    """
    return _Meanings(catalog).of(plan)


class _Meanings:
    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self.of: Memo[Exec, Plan] = Memo(self._meaning)

    def _meaning(self, node: Exec) -> Plan:
        if isinstance(node, ProjectExec) and (found := self._partners(node.child)) is not None:
            return Project(found, node.items)
        if node.unsaid is not None:
            help = "the plan can be run as it is"
            raise CannotSay(f"SQL cannot express {node.unsaid}", help=help)
        plan = said(node.meaning([self.of(child) for child in node.children]))
        return self._whole(plan) if isinstance(plan, Scan) else plan

    def _whole(self, scan: Scan) -> Plan:
        """A source; if not all of its columns are read, the others are left out."""
        info = self._catalog.lookup(scan.source)
        assert isinstance(info, SourceInfo)
        with_time = info.time_column is not None and info.time_column in scan.columns
        whole = source_plan(info, scan.alias, scan_columns(info, with_time))
        if whole.schema == scan.schema:
            return scan
        below = next(node for node in whole.walk() if isinstance(node, Scan))
        return Project(below, tuple((f.name, column(f.name, f.type)) for f in scan.schema))

    def _partners(self, plan: Exec) -> Plan | None:
        """Rows that have a partner, or none: they are numbered, joined, and found by number."""
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


@singledispatch
def said(plan: Plan) -> Plan:
    """The same in operators that the language has."""
    return plan


@said.register
def _pairs(plan: MultiJoin) -> Plan:
    if len(plan.inputs) == 2:
        return Join(*plan.inputs, plan.condition)
    joined = reduce(lambda left, right: Join(left, right, None), plan.inputs)
    return joined if plan.condition is None else Filter(joined, plan.condition)


@said.register
def _exactly(plan: Ranking) -> Plan:
    return plan.exact
