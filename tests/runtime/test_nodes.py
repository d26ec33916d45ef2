"""What is known of the parts of a graph, whatever operators they have become in partitions."""

from __future__ import annotations

import pyarrow as pa
import pytest

import tidemill as tm
from tests.fabrics.answers import query_of

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.int64()), ("at", pa.int64())])
BOTH = (
    "SELECT k, v FROM s WINDOW(RANGE 5 SLIDE 2) UNION ALL SELECT k, v FROM t"
    " WINDOW(RANGE 5 SLIDE 2)"
)


@pytest.mark.parametrize("partitions", [1, 2, 3])
def test_parts_whose_rows_move_before_them(partitions: int) -> None:
    """A union of rows that are to be together has them come together: it is still that union."""
    engine = tm.Engine("inprocess", partitions=partitions)
    for name in ("s", "t"):
        engine.stream(name, SCHEMA, time="at")
    graph = engine.run(every=None)
    grouped = f"SELECT k, COUNT(*) AS n FROM ({BOTH}) AS u GROUP BY k"
    query_of(engine, grouped).start("memory", name="groups")
    for name in ("s", "t"):
        engine.push(name, [{"k": n % 3, "v": n, "at": n} for n in range(10)])
    graph.tick()
    nodes = graph.operators
    (union,) = (nodes[node] for node in nodes if node.label == "UnionExec")
    assert (union.rows_out, union.latest_start, union.latest_end) == (20, 9, 15)
    assert union.watermark == 9
    assert query_of(engine, BOTH).start("memory", name="both").complete_from == 15
    engine.close()


def test_parts_that_work_in_phases() -> None:
    """They take in what the first does, give what the last gives, and keep what both keep."""
    engine = tm.Engine("inprocess", partitions=2)
    engine.stream("s", [{"k": n % 3, "v": n, "at": n} for n in range(50)], time="at")
    query = query_of(engine, "SELECT MAX(v) AS m FROM s WINDOW(RANGE 5 SLIDE 2)")
    assert "MergeExec" in query.explain("stages")
    answer = query.collect()
    (aggregate,) = (o for o in query.progress.operators if "MAX" in o.operator)
    assert aggregate.operator.startswith("AggregateExec")
    assert (aggregate.rows_in, aggregate.rows_out) == (50, answer.num_rows)
