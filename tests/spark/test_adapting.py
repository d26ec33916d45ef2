"""Sizes that change while a graph runs on Spark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pyarrow as pa
from pyspark.sql import SparkSession
from tests.spark.driving import query_of

from tests.spark.live_graph import END, LiveGraph, random_rows
from tidemill.algebra import Plan
from tidemill.algebra.nodes import Adjustable
from tidemill.graph.adaptation import Adaptation
from tidemill.physical.adjusting import AdjustableExec
from tidemill.reference import evaluate
from tidemill.testing import assert_snapshots_equal
from tidemill.testing.random_adapting import with_histories
from tidemill.testing.snapshots import elements

QUERIES = [
    "SELECT s.v, t.v AS w FROM s WINDOW(RANGE MIN 2, MAX 12), t WINDOW(ROWS MIN 1, MAX 5) "
    "WHERE s.k = t.k",
    "SELECT MAX(v) AS m FROM t WINDOW(RANGE MIN 4, MAX 9) GRANULARITY(COARSEST 6, FINEST 2)",
]


def test_a_graph_that_is_adapted_while_it_runs(session: SparkSession, tmp_path: Path) -> None:
    random = Random(7)
    ticks = random_rows(random, 3, 20)
    live = LiveGraph(session, tmp_path)
    adaptation = Adaptation(live.graph)
    for number, sql in enumerate(QUERIES):
        live.add(f"q{number}", sql)
    live.run.start()
    for rows in ticks:
        live.bring(rows)
        assert not live.run.failures
        with live.run.lock:
            allowed = adaptation.allowed
            some = random.sample(sorted(allowed), 2)
            adaptation.adapt({knob: allowed[knob].at(random.random()) for knob in some})
    plans = {f"q{n}": live.graph.find(f"q{n}").job.plan for n in range(len(QUERIES))}
    answers = {name: live.answers[name] for name in plans}
    live.end()
    for name, plan in plans.items():
        histories = adaptation.histories(name)
        knobs = {
            n.bounds.window: n.knob
            for n in plan.walk()
            if isinstance(n, AdjustableExec) and n.bounds
        }
        logical = with_knobs_of(query_of(live.engine, answers[name].sql).planned.plan, knobs)
        whole = with_histories(logical, histories)
        found = [element for table in answers[name].rows for element in elements(table)]
        assert_snapshots_equal(found, evaluate(whole, sources(ticks), END), range(END))
    assert max(len(each) for each in adaptation.histories("q0").values()) > 1


def with_knobs_of(plan: Plan, knobs: dict[str, str]) -> Plan:
    """The plan of a query with the knobs that its windows got."""

    def named(node: Plan) -> Plan:
        if not isinstance(node, Adjustable) or node.bounds is None:
            return node
        return replace(node, knob=knobs[node.bounds.window])

    return plan.transform(named)


def sources(ticks: list[dict[str, pa.Table]]) -> dict[str, list[tuple[dict[str, int], int]]]:
    return {
        name: [(row, row["at"]) for tick in ticks for row in tick[name].to_pylist()]
        for name in ("s", "t")
    }
