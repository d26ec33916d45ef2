"""Time: late rows, streams that are silent, heartbeats, the end of input."""

from __future__ import annotations

import inspect
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds

from tests.matrix.cells import Capability, Case, Group, Refusal
from tests.matrix.data import ANSWER, BID, FAR, FIRST, HOT, bids
from tests.matrix.ways import Collect, Graph, Running, Server, Several, Start, in_order
from tidemill.engine.engine import Engine
from tidemill.engine.query import Query

OTHER = "CREATE STREAM ask (item BIGINT, price BIGINT, at BIGINT) ORDERED BY at"
BOTH = """SELECT item, COUNT(*) AS n FROM (SELECT item FROM bid WINDOW(RANGE 4)
UNION ALL SELECT item FROM ask WINDOW(RANGE 4)) u GROUP BY item"""


def late_rows(case: Case) -> None:
    with case.open(late=str(case.folder / "late")) as way:
        way.declare(BID)
        way.ask(hot=HOT)
        way.push("bid", bids((1, 10, 10)))
        way.settle()
        way.push("bid", bids((1, 20, 3), (2, 30, 11)))
        way.settle()
        way.beat("bid", FAR)
        way.settle()
        assert way.rows("hot") == [(1, 1, 10, 14), (2, 1, 11, 15)]
        assert way.late() == 1
        assert _late(case.folder / "late" / "bid") == [(1, 20, 3, 10)]


def _late(folder: Path) -> list[tuple[object, ...]]:
    files = [str(part) for part in folder.glob("tick=*/part-*")]
    table = pa.concat_tables([ds.dataset(file).to_table() for file in files])
    return in_order(table.select(["item", "price", "at", "watermark"]))


def heartbeats(case: Case) -> None:
    with case.open() as way:
        way.declare(f"{BID}; {OTHER}")
        way.ask(both=BOTH)
        way.push("bid", FIRST)
        way.settle()
        assert way.rows("both") == []
        way.beat("ask", FAR)
        way.beat("bid", FAR)
        way.settle()
        assert way.rows("both") == ANSWER


def idle(case: Case) -> None:
    with case.open() as way:
        way.declare(f"{BID}; {OTHER} IDLE 200 MILLISECONDS")
        way.ask(both=BOTH)
        way.push("bid", FIRST)
        way.settle()
        way.push("bid", bids((3, 10, 50)))
        way.until(lambda: len(way.rows("both")) >= len(ANSWER))
        assert way.rows("both") == ANSWER


def end(case: Case) -> None:
    """Files end if a run is to read what is there; tables always do."""
    way = case.open()
    path = case.folder / "bids.csv"
    path.write_text("item,price,at\n1,10,3\n1,30,5\n2,20,6\n")
    files = BID.replace("ORDERED BY", f"SOURCE csv(path => '{path}') ORDERED BY")
    with way:
        match way:
            case Graph():
                way.engine.stream("bid", pa.Table.from_pylist(FIRST), time="at")
                way.ask(hot=HOT)
                way.settle()
                assert way.rows("hot") == ANSWER
                way.declare(OTHER)  # the graph is there for other queries
                way.ask(more=HOT.replace("bid", "ask"))
                way.push("ask", FIRST)
                way.settle()
                way.beat("ask", FAR)
                way.settle()
                assert way.rows("more") == ANSWER
            case Server():
                way.declare(files)
                told = way.said_to("POST", "run", {"sql": HOT})
                ends = zip(told["rows"], told["valid_from"], told["valid_to"], strict=True)
                assert sorted((*row, *when) for row, *when in ends) == ANSWER
            case Collect():
                way.declare(files)
                way.ask(hot=HOT)
                assert way.rows("hot") == ANSWER
            case Running():
                way.declare(files)
                _to_the_end(way)


def _to_the_end(way: Running) -> None:
    queries = [way.query(HOT), way.query(HOT.replace("RANGE 4", "RANGE 1"))]
    if isinstance(way, Several):
        both = way.engine.start(*queries, available_now=True)
        assert both.await_termination(60)
        results = [both.results(0), both.results(1)]
    else:
        assert isinstance(way, Start)
        started = [query.start(available_now=True) for query in queries]
        assert all(query.await_termination(60) for query in started)
        results = [query.results() for query in started]
    assert in_order(results[0]) == ANSWER
    assert in_order(results[1]) == [(1, 1, 3, 4), (1, 1, 5, 6), (2, 1, 6, 7)]


def one_table(case: Case) -> None:
    assert "late" not in inspect.signature(Query.collect).parameters
    assert "late" in inspect.signature(Engine.start).parameters
    way = case.open()
    assert isinstance(way, Collect)
    with way:
        rows = [pa.Table.from_pylist(each) for each in (bids((1, 10, 10)), bids((1, 20, 3)))]
        way.engine.stream("bid", rows, time="at")
        way.ask(hot=HOT)
        assert way.rows("hot") == [(1, 1, 10, 14)]
        assert way.late() == 1


def the_end_says_more(case: Case) -> None:
    assert not hasattr(Query, "heartbeat")
    with case.open() as way:
        way.declare(f"{BID}; {OTHER} IDLE 1 HOUR")
        way.ask(both=BOTH)
        way.push("bid", FIRST)
        assert way.rows("both") == ANSWER


ONE_TABLE = Refusal(
    "`collect()` returns one table, and counts late rows in `q.progress`. "
    "`q.start(…, available_now=True, late=…)` reads the same input and keeps them.",
    one_table,
)
THE_END = Refusal(
    "`collect()` reads what is there, and then every stream ends: no stream can be idle, and none "
    "needs a heartbeat.",
    the_end_says_more,
)

TIMES = Group(
    "Time",
    (
        Capability("late rows kept", late_rows, {"collect": ONE_TABLE}, sample="server"),
        Capability("heartbeats", heartbeats, {"collect": THE_END}),
        Capability("`IDLE` streams", idle, {"collect": THE_END}, sample="graph"),
        Capability("the end of input", end, sample="start"),
    ),
)
