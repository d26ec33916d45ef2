"""The running graph of an engine, in this process: queries come, share, fail and go."""

from __future__ import annotations

import errno
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tidemill as tm
from tidemill.engine.running import RunningGraph
from tidemill.engine.started import StartedQuery
from tidemill.errors import CatalogError, ExecutionError, TidemillError
from tidemill.graph.metadata import NodeMetadata
from tidemill.runtime.ticks import TickLog

BID = pa.schema({"item": pa.int64(), "price": pa.float64(), "at": pa.int64()})
COUNT = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 10) GROUP BY item"
JOIN = (
    "SELECT b.item, b.price AS bid, a.price AS ask "
    "FROM bid b WINDOW(RANGE 10), ask a WINDOW(RANGE 10) WHERE a.item = b.item"
)


@pytest.fixture
def engine() -> Iterator[tm.Engine]:
    with tm.Engine(runtime="inprocess") as engine:
        for name in ("bid", "ask"):
            engine.stream(name, BID, time="at")
        yield engine


@pytest.fixture
def graph(engine: tm.Engine) -> RunningGraph:
    return engine.run(every=None)


def started(engine: tm.Engine, sql: str, name: str, **options: Any) -> StartedQuery:
    query = engine.sql(sql)
    assert query is not None
    running = query.start("memory", name=name, **options)
    assert isinstance(running, StartedQuery)
    return running


def push(engine: tm.Engine, stream: str, *rows: tuple[int, int]) -> None:
    engine.push(stream, [{"item": item, "price": 1.0, "at": at} for item, at in rows])


def answers(query: StartedQuery) -> list[tuple[Any, ...]]:
    rows = [tuple(row.values()) for row in query.results().to_pylist()]
    return sorted(rows, key=str)


def labels(graph: RunningGraph) -> list[str]:
    return sorted(node.label.split()[0] for node in graph.nodes.values())


def test_answers_come_with_ticks(engine: tm.Engine, graph: RunningGraph) -> None:
    query = started(engine, COUNT, "count")
    push(engine, "bid", (1, 3), (1, 5))
    graph.tick()
    assert answers(query) == []  # at 5 more rows may come
    push(engine, "bid", (2, 30))
    graph.tick()
    assert answers(query) == [(1, 1, 13, 15), (1, 1, 3, 5), (1, 2, 5, 13)]
    assert query.progress.rows_out == 3
    assert query.progress.sources["bid"].rows == 3


def test_queries_share_whatever_they_call_their_streams(
    engine: tm.Engine, graph: RunningGraph
) -> None:
    started(engine, JOIN, "one")
    alone = labels(graph)
    started(engine, JOIN.replace("b.", "x.").replace("bid b", "bid x"), "two")
    assert labels(graph) == alone
    started(engine, f"SELECT item, ask - bid AS gap FROM ({JOIN})", "three")
    assert labels(graph).count("JoinExec") == 1
    assert labels(graph).count("SourceExec") == 2


def test_derived_streams_are_shared(engine: tm.Engine, graph: RunningGraph) -> None:
    engine.sql(f"CREATE STREAM counts AS {COUNT}")
    started(engine, "SELECT item FROM counts WHERE n > 1", "busy")
    started(engine, "SELECT item FROM counts WHERE n = 1", "calm")
    assert labels(graph).count("AggregateExec") == 1


def test_what_others_need_stays(engine: tm.Engine, graph: RunningGraph) -> None:
    first, second = started(engine, COUNT, "first"), started(engine, COUNT, "second")
    push(engine, "bid", (1, 3), (1, 5))
    graph.tick()
    first.stop()
    push(engine, "bid", (2, 30))
    graph.tick()
    assert answers(first) == []
    assert (1, 2, 5, 13) in answers(second)
    second.stop()
    assert labels(graph) == []
    assert (first.state, second.state) == ("stopped", "stopped")


def test_a_late_query_answers_when_it_is_complete(engine: tm.Engine, graph: RunningGraph) -> None:
    push(engine, "bid", (1, 3), (1, 5))
    started(engine, COUNT.replace("10", "20"), "other")
    graph.tick()
    late = started(engine, COUNT, "late")
    hasty = started(engine, COUNT, "hasty", partial=True)
    # The window of the row at 5 ends at 15.
    assert (late.complete_from, hasty.complete_from) == (15, 15)
    push(engine, "bid", (1, 9), (2, 40))
    graph.tick()
    assert answers(late) == [(1, 1, 15, 19)]
    assert answers(hasty) == [(1, 1, 9, 19)]


def test_a_query_that_shares_all_goes_on_at_once(engine: tm.Engine, graph: RunningGraph) -> None:
    started(engine, COUNT, "first")
    push(engine, "bid", (1, 3), (1, 5), (2, 6))
    graph.tick()
    second = started(engine, COUNT, "second")
    assert second.complete_from == 5  # the first has told what was before
    push(engine, "bid", (2, 30))
    graph.tick()
    assert (1, 2, 5, 13) in answers(second)


def test_it_can_be_too_late(engine: tm.Engine, graph: RunningGraph) -> None:
    started(engine, COUNT, "first")
    push(engine, "bid", (1, 3))
    graph.tick()
    for window in ("ROWS 5", "RANGE UNBOUNDED"):
        text = f"SELECT COUNT(*) AS n FROM bid WINDOW({window})"
        with pytest.raises(TidemillError, match="would never be complete"):
            started(engine, text, "late")
        assert started(engine, text, window, partial=True).is_active


def test_a_failing_query_fails_alone(engine: tm.Engine, graph: RunningGraph) -> None:
    good = started(engine, COUNT, "good")
    bad = started(engine, "SELECT 1 / (item - 7) AS x FROM bid WINDOW(RANGE 10)", "bad")
    above = started(
        engine, "SELECT x FROM (SELECT 1 / (item - 7) AS x FROM bid WINDOW(RANGE 10))", "above"
    )
    push(engine, "bid", (7, 3), (1, 5))
    graph.tick()
    push(engine, "bid", (2, 30))
    graph.tick()
    assert (bad.state, above.state, good.state) == ("failed", "failed", "running")
    assert "zero" in str(bad.exception()).lower()
    with pytest.raises(TidemillError):
        bad.await_termination(0)
    assert (7, 1, 3, 13) in answers(good)
    states = {each.name: each.state for each in engine.listing()}
    assert states == {"bid": "", "ask": "", "good": "running", "bad": "failed", "above": "failed"}
    bad.stop()
    assert started(engine, COUNT, "again").is_active


def test_a_sink_that_fails_stops_its_query_only(engine: tm.Engine, graph: RunningGraph) -> None:
    def full(table: pa.Table, tick: int) -> None:
        raise OSError("no space left on device")

    query = engine.sql("SELECT item FROM bid")
    assert query is not None
    broken, good = query.start(full, name="broken"), started(engine, "SELECT item FROM bid", "good")
    push(engine, "bid", (1, 3))
    graph.tick()
    assert not broken.is_active
    assert "no space left" in str(broken.exception())
    assert answers(good) == [(1, 3, 4)]


def test_one_slow_stream_delays_only_what_depends_on_it(
    engine: tm.Engine, graph: RunningGraph
) -> None:
    count = started(engine, COUNT, "count")
    both = started(engine, f"SELECT COUNT(*) AS n FROM ({JOIN})", "both")
    push(engine, "bid", (1, 3), (1, 30))
    push(engine, "ask", (1, 4))
    graph.tick()
    assert answers(count) == [(1, 1, 3, 13)]
    assert answers(both) == []
    graph.heartbeat("ask", 30)
    graph.tick()
    assert answers(both) == [(1, 4, 13)]


def test_metadata_by_subscription(engine: tm.Engine, graph: RunningGraph) -> None:
    started(engine, COUNT, "count")
    seen: list[dict[str, NodeMetadata]] = []
    stop = graph.subscribe(lambda nodes: seen.append({n.label: n for n in nodes.values()}), every=2)
    push(engine, "bid", (1, 3), (2, 5), (3, 40))
    graph.tick(4)
    stop()
    graph.tick(2)
    assert len(seen) == 2
    (window,) = (node for label, node in seen[0].items() if label.startswith("TimeWindow"))
    assert (window.rows_in, window.rows_out, window.selectivity, window.window) == (3, 3, 1.0, 10)
    assert (window.queries, window.watermark) == (("count",), 40)
    assert window.input_rate > 0
    (aggregate,) = (node for label, node in seen[0].items() if label.startswith("Aggregate"))
    assert aggregate.inputs == (window.id,)
    assert min(aggregate.state_rows, aggregate.state_bytes, aggregate.seconds) > 0
    (later,) = (node for label, node in seen[1].items() if label.startswith("TimeWindow"))
    assert (later.id, later.input_rate, later.selectivity) == (window.id, 0.0, None)


def test_several_changes_at_once(engine: tm.Engine, graph: RunningGraph) -> None:
    with graph.together():
        one, two = started(engine, COUNT, "one"), started(engine, JOIN, "two")
        assert labels(graph) == []
    assert set(graph.sources) == {"bid", "ask"}
    assert [one.state, two.state] == ["running"] * 2


def test_named_queries_in_sql(engine: tm.Engine) -> None:
    engine.sql(f"CREATE QUERY hot AS {COUNT}; START QUERY hot")
    push(engine, "bid", (1, 3), (2, 30))
    engine.graph.tick()
    assert answers(engine.graph.query("hot")) == [(1, 1, 3, 13)]
    with pytest.raises(CatalogError, match="already exists"):
        engine.sql(f"CREATE QUERY HOT AS {COUNT}")
    with pytest.raises(CatalogError, match="depends on it"):
        engine.sql("DROP STREAM bid")
    with pytest.raises(CatalogError, match="`hot` is already running"):
        engine.sql("START QUERY Hot")
    other = started(engine, "SELECT item FROM ask", "other")
    with pytest.raises(CatalogError, match="`query other` depends on it"):
        engine.sql("DROP STREAM ask")
    other.stop()
    engine.sql("STOP QUERY hot")
    states = {each.name: each.state for each in engine.listing() if each.kind == "query"}
    assert states == {"hot": "stopped", "other": "stopped"}
    engine.sql("DROP QUERY hot; DROP QUERY IF EXISTS hot")
    with pytest.raises(CatalogError, match="there is no query `hot`"):
        engine.sql("START QUERY hot")
    engine.sql("DROP STREAM ask")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"item": 1, "at": 3}], "lack price"),
        ([{"item": "x", "price": 1.0, "at": 3}], "row 1: 'x' is no BIGINT"),
    ],
)
def test_rows_that_do_not_fit_are_refused(
    engine: tm.Engine, graph: RunningGraph, rows: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(CatalogError, match=message):
        engine.push("bid", rows)
    assert engine.push("bid", []) == 0
    query = started(engine, "SELECT item FROM bid", "all")
    push(engine, "bid", (1, 3))
    graph.tick()
    assert answers(query) == [(1, 3, 4)]


def test_refusals(engine: tm.Engine, graph: RunningGraph) -> None:
    with pytest.raises(TidemillError, match="already running"):
        engine.run(every=None)
    query = engine.sql(COUNT)
    assert query is not None
    with pytest.raises(TidemillError, match="belong to the running graph"):
        query.start("memory", checkpoint="here")
    started(engine, COUNT, "hot")
    with pytest.raises(CatalogError, match="`hot` is already running"):
        started(engine, COUNT, "hot")
    with pytest.raises(ExecutionError, match="reads no stream `ask`"):
        graph.heartbeat("ask", 3)
    graph.stop()
    with pytest.raises(TidemillError, match="no graph is running"):
        engine.graph  # noqa: B018


def test_ticks_on_the_clock(engine: tm.Engine) -> None:
    graph = engine.run(every="1 millisecond")
    query = started(engine, COUNT, "count")
    push(engine, "bid", (1, 3), (2, 30))
    for _ in range(1000):
        if answers(query):
            break
        graph.queries["count"].await_termination(0.01)
    assert answers(query) == [(1, 1, 3, 13)]


KILLED = """
import os, sys
import pyarrow as pa
import tidemill as tm

folder, doom = sys.argv[1], int(sys.argv[2])
with tm.Engine(runtime="inprocess") as engine:
    tables = [pa.table({"item": [n % 3], "at": [n]}) for n in range(60)]
    engine.stream("bid", tables, time="at")
    graph = engine.run(checkpoint=f"{folder}/checkpoint", every=None)
    def keep(name):
        def write(table, tick):
            with open(f"{folder}/{name}-{tick}", "w") as file:
                file.write(repr([tuple(row.values()) for row in table.to_pylist()]))
            if tick == doom:
                os.kill(os.getpid(), 9)
        return write
    def count(size):
        return engine.sql(f"SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE {size}) GROUP BY item")
    count(10).start(keep("a"), name="a")
    if "b" in graph.members:
        count(7).start(keep("b"), name="b")
    while graph.has_more:
        if graph.sources["bid"].rows == 20:
            count(7).start(keep("b"), name="b")
        graph.tick()
print("done")
"""


def test_a_graph_that_is_killed_goes_on(tmp_path: Path) -> None:
    script = tmp_path / "killed.py"
    script.write_text(textwrap.dedent(KILLED))
    for doom in (13, 31, -1):
        done = subprocess.run(
            [sys.executable, script, str(tmp_path), str(doom)],
            text=True,
            capture_output=True,
            check=False,
        )
        assert done.returncode == (0 if doom < 0 else -9), done.stderr
    for name, size, since in (("a", 10, 0), ("b", 7, 26)):
        rows = [row for file in tmp_path.glob(f"{name}-*") for row in eval(file.read_text())]
        for t in range(since, 75):
            held = sorted((item, n) for item, n, start, end in rows if start <= t < end)
            items = [n % 3 for n in range(60) if n <= t < n + size]
            assert held == sorted((item, items.count(item)) for item in set(items)), (name, t)


def test_a_plan_that_is_refused_leaves_no_trace(engine: tm.Engine, graph: RunningGraph) -> None:
    query = started(engine, "SELECT item FROM bid WINDOW(ROWS MIN 2, MAX 5)", "last")
    push(engine, "bid", (1, 3))
    graph.tick()
    (knob,) = graph.adaptation.allowed
    for size in (4, 3):
        graph.adaptation.adapt({knob: size})
        with pytest.raises(TidemillError, match="it needs rows that came before"):
            query.migrate("SELECT item FROM bid WINDOW(ROWS MIN 2, MAX 4) WHERE item + 1 > 0")
        assert graph.adaptation.sizes == {knob: size}
        assert str(graph.adaptation.allowed[knob]) == "SizeRange(low=2, high=5)"


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tick that cannot be written down is made again with what it has read."""
    engine = tm.Engine(runtime="inprocess")
    engine.stream("bid", pa.schema({"item": pa.int64(), "at": pa.int64()}), time="at")
    graph = engine.run(checkpoint=str(tmp_path), every=None)
    query = started(engine, "SELECT item FROM bid", "q")
    write = TickLog.commit

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for at in range(4):
        engine.push("bid", [{"item": at, "at": at}])
        monkeypatch.setattr(TickLog, "commit", write if at % 2 else full)
        with nullcontext() if at % 2 else pytest.raises(OSError, match="No space left"):
            graph.tick()
    graph.tick()  # (a tick that is made again brings nothing that is new)
    assert [row["item"] for row in query.results().to_pylist()] == [0, 1, 2, 3]
    engine.close()


@pytest.mark.parametrize(("over", "shown"), [(0.0, [True, False]), (60.0, [True, True])])
def test_rates_over_some_time_outlast_a_burst(
    engine: tm.Engine, graph: RunningGraph, over: float, shown: list[bool]
) -> None:
    started(engine, "SELECT item FROM bid", "q")
    seen: list[float] = []
    graph.subscribe(lambda nodes: seen.append(max(n.output_rate for n in nodes.values())), 1, over)
    push(engine, "bid", *((1, at) for at in range(9)))
    graph.tick(2)
    assert [rate > 0 for rate in seen] == shown
