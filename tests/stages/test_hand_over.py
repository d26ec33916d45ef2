"""Where plans that follow each other need exchanges."""

from __future__ import annotations

import pyarrow as pa

from tidemill.algebra import Scan, Schema
from tidemill.physical.operator import Exec
from tidemill.physical.operators.aggregate import AggregateExec
from tidemill.physical.operators.distinct import DistinctExec
from tidemill.physical.operators.fuse import FuseExec
from tidemill.physical.operators.join import JoinExec
from tidemill.physical.operators.reference_point import ReferencePointExec
from tidemill.physical.operators.source import SourceExec
from tidemill.physical.operators.time_window import TimeWindowExec
from tidemill.stages.exchange import ExchangeExec, Mode
from tidemill.stages.placement import Placement


def window(name: str) -> Exec:
    return TimeWindowExec(SourceExec(Scan(name, name, Schema.of(k=pa.int64()))), 5)


def joined(*names: str) -> Exec:
    return JoinExec(tuple(map(window, names)), tuple((f"{name}.k",) for name in names))


def exchanges(plan: Exec) -> list[ExchangeExec]:
    placed = Placement(partitions=2).place(plan).plan
    return [node for node in placed.walk() if isinstance(node, ExchangeExec)]


def test_rows_of_either_plan_stay_where_they_are() -> None:
    old, new = joined("a", "b"), DistinctExec(joined("a", "b"), ("a.k", "b.k"))
    for node in (FuseExec, ReferencePointExec):
        moved = exchanges(node(old, new, 9))
        assert [move.child for move in moved] == [window("a"), window("b")], "as for the old plan"


def test_what_is_above_finds_them_together() -> None:
    """Both plans have them together by the same column, so nothing has to move."""
    fused = FuseExec(joined("a", "b"), DistinctExec(joined("a", "b"), ("a.k", "b.k")), 9)
    assert len(exchanges(AggregateExec(fused, (), ("a.k",), (), (0,)))) == 2


def test_both_plans_move_for_what_is_above() -> None:
    fused = FuseExec(window("a"), TimeWindowExec(window("a"), 5), 9)
    moved = exchanges(DistinctExec(fused, ("a.k",)))
    assert [(move.mode, move.keys) for move in moved] == [(Mode.HASH, ("a.k",))] * 2
    assert all(not isinstance(move.child, FuseExec) for move in moved), "each side for itself"
