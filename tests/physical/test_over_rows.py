"""Functions over rows: versions in blocks, and state that moves to other partitions."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from tests.checking.plans import check_plan
from tests.random.cases import random_inputs
from tests.random.plans import COLUMNS
from tidemill import Engine
from tidemill.algebra import OverCall, OverRows, RowFrame, Scan, SortKey, TimeWindow
from tidemill.algebra.aggregates import AggregateCall
from tidemill.physical.operators.over_rows import versions
from tidemill.testing.reference import check_result, reference

SUM = AggregateCall("s", "SUM", "a.f", pa.float64())
CALLS = (
    OverCall("n", "ROW_NUMBER", (), pa.int32()),
    OverCall("l", "LAG", ("a.s",), pa.string(), options=(1,), ignores_nulls=True),
    OverCall("s", "SUM", ("a.f",), pa.float64(), RowFrame("RANGE", -1, 1), aggregate=SUM),
)
BIDS = pa.schema({"item": pa.string(), "price": pa.int64(), "minute": pa.int64()})
QUERIES = (
    "SELECT item, price, ROW_NUMBER() OVER w AS n, SUM(price) OVER w AS s, LAG(price) OVER w AS l"
    " FROM bid WINDOW(RANGE 7) WINDOW w AS (PARTITION BY item ORDER BY price)",
    "SELECT item, price, RANK() OVER (ORDER BY price DESC) AS r FROM bid WINDOW(RANGE 5)"
    " QUALIFY r <= 3",
)


@pytest.mark.parametrize("seed", range(8))
def test_versions_in_small_blocks(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "_MOST", 7)
    random = Random(seed)
    window = TimeWindow(Scan("alpha", "a", COLUMNS), random.choice([3, 8, None]))
    order = (SortKey("a.v", random.random() < 0.5, random.random() < 0.5),)
    by = random.choice([(), ("a.k",)])
    check_plan(OverRows(window, by, order, CALLS), random_inputs(random))


def test_restarts_with_other_partitions(tmp_path: Path) -> None:
    """Four runs over one checkpoint, with 2, 2, 3 and 1 partitions, answer like one."""
    random = Random(5)
    rows = [
        {"item": random.choice(["a", "b", None]), "price": random.choice([1, 2, None]), "minute": n}
        for n in range(40)
    ]
    answers: list[list[pa.Table]] = [[] for _ in QUERIES]
    for number, partitions in enumerate((2, 2, 3, 1)):
        engine = Engine(runtime="inprocess", partitions=partitions)
        engine.stream("bid", BIDS, time="minute")
        graph = engine.run(checkpoint=str(tmp_path), every=None)
        running = [engine.sql(q).start("memory", name=f"q{n}") for n, q in enumerate(QUERIES)]
        for start in range(10 * number, 10 * number + 10, 5):
            engine.push("bid", rows[start : start + 5])
            graph.tick()
        if number == 3:
            graph.heartbeat("bid", 1000)
            graph.tick()
        for found, query in zip(answers, running, strict=True):
            found.append(query.results())
        plans = [engine.sql(query).planned.plan for query in QUERIES]
        engine.close()
    sources = {"bid": [(row, row["minute"]) for row in rows]}
    for plan, found in zip(plans, answers, strict=True):
        check_result(pa.concat_tables(found), reference(plan, sources))
