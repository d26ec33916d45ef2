"""What clients do while queries run, the same on Spark and in the process of the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import BIDS, SETTINGS, Server, serving
from tidemill.server import Settings

SPARK = pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.slow])
OFFERS = """
CREATE RELATION offer (item BIGINT, note STRING) CHANGING;
CREATE QUERY offered AS SELECT b.item, o.note FROM bid b [RANGE 10], offer o WHERE o.item = b.item;
START QUERY offered
"""

Start = Callable[..., Server]


@pytest.fixture(params=["inprocess", SPARK])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    return replace(
        SETTINGS, folder=tmp_path / "kept", runtime=request.param, allow=(str(tmp_path), "parqet()")
    )


@pytest.fixture
def start(settings: Settings) -> Iterator[Start]:
    """Starts a server on the folder, after the one before has gone."""
    running: list[Iterator[Server]] = []

    def started(script: str = "") -> Server:
        for each in running:
            next(each, None)
        running[:] = [serving(settings, script)]
        return next(running[0])

    yield started
    for each in running:
        next(each, None)


def at(server: Server, query: str, instant: int) -> list[Any]:
    return sorted(server.get(f"queries/{query}/snapshot", at=instant)["rows"])


def test_streams_that_come_while_the_graph_runs(start: Start) -> None:
    server = start(BIDS)
    server.push((1, 1.0, 1))
    server.run("CREATE STREAM ask (item BIGINT, at BIGINT) ORDERED BY at")
    server.run(
        "CREATE QUERY both_of AS SELECT b.item FROM bid b [RANGE 10], ask a [RANGE 10] "
        "WHERE a.item = b.item; START QUERY both_of"
    )
    server.post("streams/ask/rows", [{"item": 1, "at": 4}, {"item": 1, "at": 20}], wait="true")
    server.push((1, 1.0, 12), (2, 1.0, 20))
    assert at(server, "both_of", 13) == [[1]]
    server = start()
    assert at(server, "both_of", 13) == [[1]]
    server.run("CREATE STREAM third (item BIGINT, at BIGINT) ORDERED BY at")
    server.run("CREATE QUERY more AS SELECT item FROM third [RANGE 5]; START QUERY more")
    server.post("streams/third/rows", [{"item": 7, "at": 1}, {"item": 8, "at": 9}], wait="true")
    assert at(server, "more", 3) == [[7]]
    server.push((2, 1.0, 40))
    server.post("streams/ask/rows", [{"item": 2, "at": 40}], wait="true")
    assert at(server, "both_of", 21) == [[1]]
    server = start()
    assert at(server, "more", 3) == [[7]]
    server.run("DROP QUERY more; DROP STREAM third")
    assert {query["state"] for query in server.get("queries")} == {"running"}


def test_rows_of_a_relation_that_a_running_query_reads(start: Start) -> None:
    """A row of a stream looks a relation up when it comes."""
    server = start(BIDS + ";" + OFFERS)
    server.push((1, 1.0, 1), (3, 1.0, 2))
    rows = [{"item": 1, "note": "one"}, {"item": 3, "note": "three"}]
    assert server.post("relations/offer/rows", {"rows": rows, "at": 4}) == {"rows": 2}
    server.push((3, 1.0, 6))
    server.run("INSERT INTO offer VALUES (2, 'two') AT 8; DELETE FROM offer WHERE item = 1 AT 9")
    server.push((2, 1.0, 7), (2, 1.0, 8), (1, 1.0, 8), (1, 1.0, 9))
    server = start()
    server.call("DELETE", "relations/offer/rows", {"where": "note = 'three'"})
    server.push((3, 1.0, 11), (2, 1.0, 12), (9, 1.0, 40))
    found = server.get("queries/offered/results", **{"from": 0, "to": 40})
    times = zip(found["valid_from"], found["valid_to"], strict=True)
    assert sorted(zip(found["rows"], times, strict=True)) == [
        ([1, "one"], (8, 18)),
        ([2, "two"], (8, 18)),
        ([2, "two"], (12, 22)),
        ([3, "three"], (6, 16)),
    ]


def test_the_plan_that_runs_is_shown(start: Start) -> None:
    server = start(BIDS)
    server.run("CREATE QUERY cheap AS SELECT x.item FROM bid x [RANGE 7] WHERE x.price < 2")
    physical = "SourceExec", "bid as x columns=[item, price]"
    assert leaf(server, "cheap") == physical
    server.run("START QUERY cheap")
    # It runs in the words of the graph, whatever it calls its streams.
    assert leaf(server, "cheap") == ("SourceExec", "bid columns=[item, price]")
    server.run("STOP QUERY cheap")
    assert leaf(server, "cheap") == physical


def leaf(server: Server, query: str) -> tuple[str, str]:
    node = server.get(f"queries/{query}/plan")["plans"]["physical"]
    while node["inputs"]:
        (node,) = node["inputs"]
    return node["operator"], node["details"]


SOURCES = [
    ("parqet(path => '{}/x')", "did you mean parquet?"),
    ("csv(path => '{}/broken.csv')", "cannot read broken.csv of `s` as csv: column `item`"),
]


@pytest.mark.parametrize(("source", "message"), SOURCES)
def test_a_source_that_cannot_be_read_fails_its_query_alone(
    start: Start, tmp_path: Path, source: str, message: str
) -> None:
    (tmp_path / "broken.csv").write_text("item,at\nmuch,1\n", "utf-8")
    server = start(BIDS)
    create = f"CREATE STREAM s (item BIGINT, at BIGINT) SOURCE {source.format(tmp_path)}"
    server.run(f"{create} ORDERED BY at; CREATE QUERY q AS SELECT item FROM s")
    told = why(server)
    assert message in told
    assert "Exception" not in told
    server.push((1, 1.0, 1), (1, 1.0, 5))
    assert [1, 1] in at(server, "hot", 3)
    assert server.get("queries/hot")["state"] == "running"


def why(server: Server) -> str:
    """Why the query `q` does not run: that is told when it is started, or with its first tick."""
    answer = server.http.post("/api/queries/q/start")
    if answer.status_code != 200:
        return str(answer.json()["error"])
    server.push((7, 1.0, 0))
    query = server.get("queries/q")
    assert query["state"] == "failed", query
    return str(query["error"])
