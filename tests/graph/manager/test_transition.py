"""What is kept of old rows while sizes change."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tidemill.algebra import Scan, Schema
from tidemill.algebra.plan import nodes_of
from tidemill.graph.manager.estimates import GraphEstimates
from tidemill.graph.manager.transition import Transition
from tidemill.physical.operator import Exec
from tidemill.physical.operators.distinct import DistinctExec
from tidemill.physical.operators.source import SourceExec
from tidemill.physical.operators.time_window import TimeWindowExec
from tidemill.runtime.operator_progress import OperatorProgress

BID = SourceExec(Scan("bid", "bid", Schema.of(item=pa.int64())))
WINDOW = TimeWindowExec(BID, 100, knob="range of bid")
TOP = DistinctExec(WINDOW, WINDOW.schema.names)


def transition(now: int) -> Transition:
    """An operator that keeps a thousand bytes of rows of a window of a hundred instants."""
    estimates = GraphEstimates()
    estimates.revise(nodes_of(TOP))
    seen: dict[Exec, OperatorProgress] = {
        node: OperatorProgress(node.label) for node in nodes_of(TOP)
    }
    seen[TOP].state_bytes = 1000
    return Transition(estimates, seen, {"range of bid": [(0, 100)]}, now)


@pytest.mark.parametrize(
    ("now", "size", "left"), [(100, 100, 0), (100, 50, 500), (300, 25, 750), (300, 0, 1000)]
)
def test_old_rows_are_left_when_new_ones_have_filled(now: int, size: int, left: float) -> None:
    assert transition(now).left({"range of bid": size}) == pytest.approx(left)


def test_larger_windows_leave_nothing_to_wait_for() -> None:
    assert transition(100).left({"range of bid": 400}) == 0
