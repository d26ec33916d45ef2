"""The resource manager of a running graph: it admits, adapts and refuses, and gives back."""

from __future__ import annotations

import pyarrow as pa
import pytest

import tidemill as tm
from tidemill.engine.running import RunningGraph
from tidemill.errors import ResourceError, TidemillError
from tidemill.graph.manager import ResourceManager
from tidemill.graph.manager.sizes import parse_bytes

BID = pa.schema({"item": pa.int64(), "price": pa.int64(), "at": pa.int64()})
QUERY = """
    SELECT a.price AS one, b.price AS other
    FROM {one} AS a WINDOW(RANGE MIN 100, MAX 1000)
    JOIN {other} AS b WINDOW(RANGE MIN 100, MAX 1000) ON a.item = b.item
"""
PAIRS = (("bid", "ask"), ("ask", "trade"), ("bid", "trade"))


def engine_with(**bounds: str | float) -> tm.Engine:
    engine = tm.Engine(runtime="inprocess", **bounds)  # type: ignore[arg-type]
    for name in ("bid", "ask", "trade"):
        engine.stream(name, BID, time="at")
        engine.hint(name, rate=0.2, distinct={"item": 100})
    return engine


def start(engine: tm.Engine, one: str, other: str) -> None:
    query = engine.sql(QUERY.format(one=one, other=other))
    assert query is not None
    query.start(lambda rows, tick: None, name=f"{one} {other}")


def feed(engine: tm.Engine, graph: RunningGraph, begin: int, ticks: int, gap: int = 5) -> int:
    """Rows of all streams, one in `gap` instants; ticks of fifty instants."""
    for tick in range(begin, begin + ticks):
        span = range(tick * 50, tick * 50 + 50, gap)
        rows = [{"item": at % 97, "price": at, "at": at} for at in span]
        for name in ("bid", "ask", "trade"):
            engine.push(name, rows)
        graph.tick()
    return begin + ticks


def kept(graph: RunningGraph) -> int:
    return sum(progress.state_bytes for progress in graph.operators.values())


def test_sizes_shrink_for_a_new_query_and_grow_when_it_leaves() -> None:
    engine = engine_with(memory="60kB")
    graph = engine.run(every=None)
    start(engine, *PAIRS[0])
    tick = feed(engine, graph, 0, 4)
    assert set(graph.adaptation.sizes.values()) == {1000}
    for pair in PAIRS[1:]:
        start(engine, *pair)
    tick = feed(engine, graph, tick, 30)
    assert min(graph.adaptation.sizes.values()) < 1000
    assert kept(graph) <= 60_000
    for pair in PAIRS[1:]:
        graph.queries[" ".join(pair)].stop()
    feed(engine, graph, tick, 24)
    assert set(graph.adaptation.sizes.values()) == {1000}
    assert kept(graph) <= 60_000


def test_a_query_without_room_is_refused_with_the_estimate() -> None:
    engine = engine_with(memory="3kB")
    graph = engine.run(every=None)
    start(engine, *PAIRS[0])
    with pytest.raises(ResourceError) as caught:
        start(engine, *PAIRS[1])
    assert "`ask trade`" in caught.value.message
    assert "kB of memory at the smallest sizes" in caught.value.message
    assert "of 3 kB, 20% are kept in reserve" in caught.value.message
    assert "bid ask" in graph.queries
    assert "ask trade" not in graph.queries
    feed(engine, graph, 0, 3)  # the others go on


def test_sizes_follow_rates() -> None:
    engine = engine_with(memory="60kB")
    graph = engine.run(every=None)
    start(engine, *PAIRS[0])
    tick = feed(engine, graph, 0, 20)
    assert set(graph.adaptation.sizes.values()) == {1000}
    tick = feed(engine, graph, tick, 20, gap=1)
    assert min(graph.adaptation.sizes.values()) < 1000
    assert kept(graph) <= 60_000
    feed(engine, graph, tick, 60, gap=5)
    assert set(graph.adaptation.sizes.values()) == {1000}


def test_the_first_rows_have_sizes_that_fit() -> None:
    engine = engine_with(memory="60kB")
    graph = engine.run(every=None)
    for pair in PAIRS:
        start(engine, *pair)
    assert max(graph.adaptation.sizes.values()) < 1000
    assert all(history[0].size < 1000 for history in graph.adaptation.all_histories.values())


def test_progress_names_the_sizes_in_force() -> None:
    engine = engine_with(memory="60kB")
    graph = engine.run(every=None)
    for pair in PAIRS:
        start(engine, *pair)
    feed(engine, graph, 0, 30, gap=1)
    query = graph.queries["bid ask"]
    sizes = query.progress.sizes
    assert set(sizes) == {"range of bid", "range of ask"}
    knob, history = max(sizes.items(), key=lambda item: len(item[1]))
    assert history[0][0] == 0
    assert len(history) > 1
    assert query.settings(1400, 1500)[knob][-1] == history[-1]


TIMED = pa.schema({"item": pa.int64(), "at": pa.timestamp("us")})
TIMED_QUERY = """
    SELECT a.item FROM bid AS a WINDOW(RANGE MIN 1 SECOND, MAX 10 MINUTES)
    JOIN ask AS b WINDOW(RANGE MIN 1 SECOND, MAX 10 MINUTES) ON a.item = b.item
"""


@pytest.mark.parametrize(("cpu", "fits"), [(0.5, True), (1e-5, False)])
def test_processing_is_bounded(cpu: float, fits: bool) -> None:
    engine = tm.Engine(runtime="inprocess", cpu=cpu)
    for name in ("bid", "ask"):
        engine.stream(name, TIMED, time="at")
        engine.hint(name, rate=100, distinct={"item": 50})
    graph = engine.run(every=None)
    query = engine.sql(TIMED_QUERY)
    assert query is not None
    if not fits:
        with pytest.raises(ResourceError, match="of a core at the smallest sizes"):
            query.start(lambda rows, tick: None)
        return
    query.start(lambda rows, tick: None)
    assert graph.manager is not None
    assert graph.manager.demand.cpu > 0


@pytest.mark.parametrize("amount", ["much", "3 apples", "-1MB", "0"])
def test_amounts_of_memory_that_are_none(amount: str) -> None:
    with pytest.raises(TidemillError, match="not an amount of memory"):
        parse_bytes(amount)


def test_unknown_strategies_are_named() -> None:
    with pytest.raises(TidemillError, match="no strategy `best`"):
        ResourceManager(memory="1MB", strategy="best")


def test_queries_over_streams_of_which_nothing_is_known_are_let_in_and_measured() -> None:
    engine = tm.Engine(runtime="inprocess", memory="2MB")
    graph = engine.run(every=None)
    engine.sql("CREATE STREAM bid (item BIGINT, price BIGINT, ts TIMESTAMP) ORDERED BY ts")
    highest = "(SELECT MAX(price) FROM bid WINDOW(RANGE 1 HOUR))"
    most = "(SELECT COUNT(*) FROM bid WINDOW(RANGE 1 HOUR) GROUP BY item)"
    for number, sql in enumerate(
        (
            f"SELECT item FROM bid WINDOW(RANGE 1 HOUR) WHERE price = {highest}",
            # Its rows get numbers, which no column of the stream stands for.
            "SELECT item FROM (SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 1 HOUR) "
            f"GROUP BY item) AS c WHERE n >= ALL {most}",
        )
    ):
        engine.sql(f"CREATE QUERY q{number} AS {sql}; START QUERY q{number}")
    rows = [{"item": n % 9, "price": n % 7, "ts": 1_000_000 * n} for n in range(200)]
    for place in range(0, 200, 20):
        engine.push("bid", pa.Table.from_pylist(rows[place : place + 20]))
        graph.tick()
    assert all(query.is_active for query in graph.queries.values())
    assert graph.manager is not None
    assert 0 < graph.manager.demand.memory < 2_000_000
