"""What changes while queries run: streams, queries, plans and sizes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.matrix.cells import Capability, Case, Group, Refusal
from tests.matrix.data import ANSWER, BID, FAR, FIRST, HOT, at, bids
from tests.matrix.ways import Collect, Row, Way
from tidemill.engine.query import Query
from tidemill.errors import TidemillError

NAMES = "CREATE STREAM bid (name STRING, at BIGINT) ORDERED BY at"


def _begun(case: Case, **queries: str) -> Way:
    """Queries that have read the first bids."""
    way = case.open()
    way.declare(BID)
    way.ask(**queries)
    way.push("bid", FIRST)
    way.settle()
    return way


def _end(way: Way, *streams: str) -> None:
    for stream in streams:
        way.beat(stream, FAR)
    way.settle()


def new_streams(case: Case) -> None:
    with _begun(case, hot=HOT) as way:
        way.declare("CREATE STREAM ask (item BIGINT, price BIGINT, at BIGINT) ORDERED BY at")
        way.ask(
            asked=HOT.replace("bid", "ask"),
            both="SELECT b.price AS bid, a.price AS ask FROM bid b WINDOW(RANGE 10) "
            "JOIN ask a WINDOW(RANGE 10) ON a.item = b.item",
        )
        way.push("ask", bids((2, 7, 50)))
        way.push("bid", bids((2, 8, 51)))
        way.settle()
        _end(way, "bid", "ask")
        assert way.rows("hot") == sorted([*ANSWER, (2, 1, 51, 55)])
        assert way.rows("asked") == [(2, 1, 50, 54)]
        assert way.rows("both") == [(8, 7, 51, 60)]


def dropped_streams(case: Case) -> None:
    """Another stream may have the name, with other columns and at another time."""
    with _begun(case, hot=HOT) as way:
        if not isinstance(way, Collect):
            with pytest.raises(TidemillError, match="bid"):
                way.declare("DROP STREAM bid")
        way.stop("hot")
        way.declare(f"DROP STREAM bid; {NAMES}")
        way.ask(again="SELECT name, COUNT(*) AS n FROM bid WINDOW(RANGE 4) GROUP BY name")
        way.push("bid", [{"name": "ann", "at": 1}, {"name": "ann", "at": 2}])
        _end(way, "bid")
        assert way.rows("again") == [("ann", 1, 1, 2), ("ann", 1, 5, 6), ("ann", 2, 2, 5)]


def come_and_go(case: Case) -> None:
    with _begun(case, hot=HOT, gone=HOT.replace("RANGE 4", "RANGE 1")) as way:
        way.stop("gone")
        way.ask(late=HOT.replace("RANGE 4", "RANGE 2"))
        way.push("bid", bids((3, 10, 50), (3, 20, 51)))
        _end(way, "bid")
        assert way.rows("hot") == sorted([*ANSWER, (3, 1, 50, 51), (3, 1, 54, 55), (3, 2, 51, 54)])
        rows = [(3, 1, 50, 51), (3, 1, 52, 53), (3, 2, 51, 52)]
        assert [row for row in way.rows("late") if row[0] == 3] == rows


def failing(case: Case) -> None:
    bad = "SELECT 100 / (price - 20) AS x FROM bid WINDOW(RANGE 4)"
    with _begun(case, good=HOT, bad=bad) as way:
        assert str(way.error("bad")).startswith("division by zero")
        way.push("bid", bids((3, 10, 50)))
        _end(way, "bid")
        assert way.error("good") is None
        assert way.rows("good") == sorted([*ANSWER, (3, 1, 50, 54)])


def migration(case: Case) -> None:
    """Before some instant the answer is that of the old plan, then that of the new one."""
    every = [(1, 10, t) for t in range(3, 30, 2)]
    with _begun(case, hot=HOT) as way:
        way.migrate("hot", HOT.replace("RANGE 4", "RANGE 2"))
        way.push("bid", bids(*[row for row in every if 6 < row[2] < 15]))
        way.settle()
        way.push("bid", bids(*[row for row in every if row[2] >= 15]))
        _end(way, "bid")
        rows = way.rows("hot")
    rest = [*every, (2, 20, 6)]
    old, new = ([_counts(rest, size, t) for t in range(40)] for size in (4, 2))
    found = [at(rows, t) for t in range(40)]
    splits = [t for t in range(6, 16) if found == old[:t] + new[t:]]
    assert splits, f"{rows}"
    assert found[6:8] == old[6:8] != new[6:8]
    assert found[16:] == new[16:] != old[16:]


def _counts(rows: Sequence[Row], size: int, instant: int) -> list[Row]:
    """The definition: how many bids of an item have come in the last instants."""
    there = [item for item, _, t in rows if t <= instant < t + size]
    return sorted((item, there.count(item)) for item in set(there))


ONE_EACH = "SELECT COUNT(*) AS n FROM bid WINDOW(RANGE MIN 3, MAX 10)"


def sizes(case: Case) -> None:
    """One bid per instant; those from 20 on stay for 3 instants, and not for 10."""
    with case.open() as way:
        way.declare(BID)
        way.ask(n=ONE_EACH)
        way.push("bid", bids(*[(1, 10, t) for t in range(20)]))
        way.settle()
        way.adapt("n", {"range of bid": 3})
        way.push("bid", bids(*[(1, 10, t) for t in range(20, 40)]))
        _end(way, "bid")
        assert way.sizes("n") == {"range of bid": [[0, 10], [20, 3]]}
        rows = way.rows("n")
        for t in range(42):
            there = sum(1 for s in range(40) if s <= t < s + (10 if s < 20 else 3))
            assert at(rows, t) == ([(there,)] if there else []), t


def bounds(case: Case) -> None:
    """Memory for a part of the largest windows: they begin smaller, and answers are exact."""
    pairs = """SELECT b.price AS bid, a.price AS ask FROM bid AS b WINDOW(RANGE MIN 100, MAX 2000)
    JOIN ask AS a WINDOW(RANGE MIN 100, MAX 2000) ON a.item = b.item"""
    with case.open(memory="20kB") as way:
        way.declare(f"{BID}; {BID.replace('STREAM bid', 'STREAM ask')}")
        for stream in ("bid", "ask"):
            way.hint(stream, 0.2, {"item": 100})
        way.ask(pairs=pairs)
        way.push("bid", bids((1, 10, 0)))
        way.push("ask", bids((1, 20, 0)))
        way.settle()
        for stream in ("bid", "ask"):
            way.beat(stream, 5000)
        way.settle()
        first = {knob: history[0][1] for knob, history in way.sizes("pairs").items()}
        assert all(100 <= size < 2000 for size in first.values()), first
        assert way.rows("pairs") == [(10, 20, 0, min(first.values()))]


# What has no meaning


def over_at_once(case: Case) -> None:
    assert not hasattr(Query, "migrate")
    assert not hasattr(Query, "adapt")
    with case.open() as way:
        way.declare(BID)
        way.ask(n=ONE_EACH, hot=HOT)
        way.push("bid", FIRST)
        assert way.rows("hot") == ANSWER
        # At the best size all the time.
        assert way.rows("n") == [(1, 3, 5), (1, 15, 16), (2, 5, 6), (2, 13, 15), (3, 6, 13)]


def of_the_graph(case: Case) -> None:
    with case.open(memory="1kB") as way:
        way.declare(BID)
        way.hint("bid", 100, {})
        way.ask(n=ONE_EACH)
        way.push("bid", FIRST)
        _end(way, "bid")
        assert way.rows("n") == [(1, 3, 5), (1, 15, 16), (2, 5, 6), (2, 13, 15), (3, 6, 13)]


OVER = Refusal(
    "`collect()` has finished when it returns: there is no running query whose plan or sizes could "
    "be changed. Windows that may vary have their best size.",
    over_at_once,
)
OWN = Refusal(
    "`collect()` answers once, with windows at their best sizes: `memory` and `cpu` of an engine "
    "bound queries that keep running.",
    of_the_graph,
)

CHANGES = Group(
    "What changes while queries run",
    (
        Capability("new streams", new_streams),
        Capability("dropped streams", dropped_streams, sample="server"),
        Capability("queries that come and go", come_and_go),
        Capability("a failing query beside others", failing, sample="several"),
        Capability("migration", migration, {"collect": OVER}, sample="start"),
        Capability("sizes set by hand", sizes, {"collect": OVER}, sample="server"),
        Capability(
            "sizes adapted to bounds",
            bounds,
            {"collect": OWN},
        ),
    ),
)
