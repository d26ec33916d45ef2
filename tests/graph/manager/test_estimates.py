"""What a graph is estimated to need, against what it was measured to keep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

import tidemill as tm
from experiments.adapting.mix import MINUTE, Mix
from tidemill.algebra.plan import nodes_of
from tidemill.engine.running import RunningGraph
from tidemill.graph.manager import Readings, ResourceManager
from tidemill.graph.manager.estimates import GraphEstimates
from tidemill.physical.operator import Exec
from tidemill.physical.operators.time_window import TimeWindowExec

MIX = Mix(streams=6, rates=(10, 100), minutes=(1, 2), bounds=False, seed=3)
TICK = MINUTE // 6


@pytest.fixture(scope="module")
def engine() -> tm.Engine:
    engine = tm.Engine(runtime="inprocess", optimizer=["order_joins"])
    MIX.declare(engine)
    return engine


def plans(engine: tm.Engine, count: int) -> list[Exec]:
    found = [engine.sql(text) for text in MIX.queries(count)]
    return [query.job.plan for query in found if query is not None]


def with_knobs(plan: Exec) -> Exec:
    """Every window gets a knob, named after its stream and size."""

    def change(node: object) -> object:
        if isinstance(node, TimeWindowExec):
            return replace(node, knob=f"{node.child.label} {node.size}")
        return node

    changed = plan.rewrite(change)  # type: ignore[arg-type]
    assert isinstance(changed, Exec)
    return changed


def test_shared_parts_count_once(engine: tm.Engine) -> None:
    known = engine.statistics.known
    alone, twice = GraphEstimates(known), GraphEstimates(known)
    some = plans(engine, 8)
    alone.revise(nodes_of(*some))
    twice.revise(nodes_of(*some, *plans(engine, 8)))
    assert twice.usage == alone.usage
    assert alone.usage.state_bytes > 0


def test_only_what_is_above_a_knob_is_estimated_again(engine: tm.Engine) -> None:
    roots = [with_knobs(plan) for plan in plans(engine, 12)]
    known = engine.statistics.known
    estimates = GraphEstimates(known)
    estimates.revise(nodes_of(*roots))
    before, sizes = estimates.usage, dict(estimates.sizes)
    name = next(iter(sizes))
    smaller = estimates.at({name: sizes[name] // 2})
    assert smaller.state_bytes < before.state_bytes
    fresh = GraphEstimates(known)
    fresh.revise(nodes_of(*roots))
    assert fresh.at(sizes | {name: sizes[name] // 2}).state_bytes == pytest.approx(
        smaller.state_bytes
    )
    assert estimates.at(sizes).state_bytes == pytest.approx(before.state_bytes)


def test_what_goes_is_no_longer_counted(engine: tm.Engine) -> None:
    roots = plans(engine, 10)
    estimates, fewer = (GraphEstimates(engine.statistics.known) for _ in range(2))
    estimates.revise(nodes_of(*roots))
    estimates.revise(nodes_of(*roots[:3]))
    fewer.revise(nodes_of(*roots[:3]))
    assert estimates.usage.state_bytes == pytest.approx(fewer.usage.state_bytes)
    estimates.revise([])
    assert estimates.usage.state_bytes == pytest.approx(0, abs=1e-6)
    assert not estimates.parts


def ticks(engine: tm.Engine, graph: RunningGraph, minutes: int) -> Iterator[Readings]:
    for begin in range(0, minutes * MINUTE, TICK):
        for name, rows in MIX.tables(begin, begin + TICK).items():
            engine.push(name, rows)
        graph.tick()
        for name in graph.sources:
            graph.heartbeat(name, begin + TICK)
        rows = {name: source.rows for name, source in graph.sources.items()}
        yield Readings(graph.operators, rows, begin + TICK, graph.seconds, graph.ticks)


def test_memory_is_known_within_a_quarter(engine: tm.Engine) -> None:
    graph = engine.run(every=None)
    with graph.together():
        for text in MIX.queries(20):
            query = engine.sql(text)
            assert query is not None
            query.start(lambda rows, tick: None)
    manager = ResourceManager(memory="1GB")
    for name, running in graph.running.items():
        manager.admit(name, running.job.plan, [], engine.statistics.known)
    shares = []
    for readings in ticks(engine, graph, minutes=6):
        if readings.now > 3 * MINUTE:
            shares.append(manager.demand.memory / readings.memory)
        manager.observe(readings, [], engine.statistics.known)
    graph.stop()
    assert sum(shares) / len(shares) == pytest.approx(1, abs=0.15)
    assert sum(0.75 <= share <= 1.25 for share in shares) >= 0.8 * len(shares)
