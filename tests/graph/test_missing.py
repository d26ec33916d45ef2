"""From which instant on queries that come later are complete, against the reference."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.checking.plans import Inputs, reference_of
from tests.checking.sources import opener
from tests.graph.migrating import Collected
from tests.random.data import RandomStream
from tidemill.algebra import Plan, Scan, Schema, TimeWindow
from tidemill.algebra.nodes import Dstream, Granularity, Istream
from tidemill.connectors.sinks import SinkRequest
from tidemill.graph.query_graph import QueryGraph
from tidemill.physical.lowering import lower
from tidemill.runtime.fabric import InProcess
from tidemill.runtime.interface import Job
from tidemill.runtime.run import Run
from tidemill.testing.snapshots import snapshot_at
from tidemill.timeline import TimeDomain

SCAN = Scan("s", "s", Schema.of(k=pa.int32()))
HELD = TimeWindow(SCAN, 5)
PLANS = {
    "rows": SCAN,
    "window": HELD,
    "granularity": Granularity(HELD, 4),
    "istream": Istream(HELD),
    "dstream": Dstream(HELD),
    "window over dstream": TimeWindow(Dstream(HELD), 3),
    "dstream of dstream": Dstream(Dstream(HELD)),
}


@pytest.mark.parametrize("shares", [False, True])
@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_no_instant_too_early_and_none_too_late(plan: Plan, shares: bool) -> None:
    """One that is partial shows what is not complete: it lacks something an instant before."""
    # Of the rows of every instant, one is like others, and one is not.
    ticks = tuple(({"k": 0, "at": at}, {"k": 100 + at, "at": at}) for at in range(30))
    inputs = Inputs({"s": RandomStream(ticks, slack=0)})
    run = Run(InProcess(), opener(inputs.sources()))
    graph = QueryGraph(run)
    graph.add("first", _job(HELD if shares else SCAN, Collected()))
    for _ in range(10):
        run.tick()
    found = Collected()
    late = graph.add("late", _job(plan, found), partial=True)
    while run.has_more:
        run.tick()
    expected = reference_of(plan, inputs)
    wrong = [at for at in range(30) if snapshot_at(found.rows, at) != expected.at(at)]
    assert wrong[-1] + 1 == late.complete_from


def _job(plan: Plan, sink: Collected) -> Job:
    return Job(lower(plan, {}), TimeDomain.TICKS, SinkRequest(sink))
