"""The client against a real server, over a real socket."""

import time
import warnings
from collections.abc import Iterator
from datetime import datetime

import polars as pl
import pyarrow as pa
import pytest

from tests.serving import served
from tidemill.client import Client, RequestError
from tidemill.errors import CatalogError, PlanError, SqlSyntaxError, TidemillError
from tidemill.wire.graph import ResourceBounds

BIDS = "CREATE STREAM bid (item STRING, price BIGINT, minute BIGINT) ORDERED BY minute"
HOT = "SELECT item, COUNT(*) AS bids FROM bid WINDOW(RANGE 5) GROUP BY item"
ROWS = [
    {"item": "lamp", "price": 30, "minute": 1},
    {"item": "vase", "price": 12, "minute": 2},
    {"item": "lamp", "price": 35, "minute": 4},
    {"item": "vase", "price": 20, "minute": 9},
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served() as url:
        yield url


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    """A client of a server that has nothing but the stream and one query."""
    with Client(url) as client:
        client.execute(BIDS)
        client.create("hot", HOT)
        yield client
        for query in client.queries():
            client.drop(query.name)
        catalog = client.catalog()
        for each in catalog.derived:
            client.execute(f"DROP {each.kind} {each.name}")
        for name in [each.name for each in catalog.streams]:
            client.execute(f"DROP STREAM {name}")
        for name in [each.name for each in catalog.relations]:
            client.execute(f"DROP RELATION {name}")


def test_rows_are_pushed_and_answers_read(client: Client) -> None:
    assert client.push("bid", ROWS, wait=True) == 4
    now = client.snapshot("hot")
    assert (now.at, now.complete_until, now.truncated) == (8, 9, False)
    assert now.table.select(["item", "bids"]).to_pylist() == [{"item": "lamp", "bids": 1}]
    then = client.snapshot("hot", at=5, limit=1)
    assert (then.at, then.truncated) == (5, True)
    assert then.table.column("bids").to_pylist() == [2]
    found = client.results("hot", 0, 5).table
    assert found.column_names == ["item", "bids", "valid_from", "valid_to"]
    assert found.sort_by("valid_from").to_pylist()[0] == {
        "item": "lamp", "bids": 1, "valid_from": 1, "valid_to": 4
    }  # fmt: skip


def test_changes_go_on_from_a_cursor(client: Client) -> None:
    client.push("bid", ROWS[:2], wait=True)
    first = client.changes("hot")
    client.push("bid", ROWS[2:], wait=True)
    second = client.changes("hot", since=first.cursor)
    both = pa.concat_tables([first.table, second.table]).to_pylist()
    assert [(row["at"], row["change"], row["item"], row["bids"]) for row in both] == [
        (1, "+", "lamp", 1),
        (2, "+", "vase", 1),
        (4, "-", "lamp", 1),
        (4, "+", "lamp", 2),
        (6, "-", "lamp", 2),
        (6, "+", "lamp", 1),
        (7, "-", "vase", 1),
    ]
    assert not second.missed


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(pa.Table.from_pylist(ROWS), id="pyarrow"),
        pytest.param(pl.DataFrame(ROWS), id="polars"),
        pytest.param([], id="nothing"),
    ],
)
def test_tables_can_be_pushed(client: Client, rows: object) -> None:
    assert client.push("bid", rows) == len(rows)


def test_many_rows_are_sent_in_parts(client: Client) -> None:
    count = 300_000  # more than the server takes at once
    rows = pa.table({"item": ["x" * 50] * count, "price": range(count), "minute": range(count)})
    assert rows.nbytes > client.info().limits["body_bytes"]
    assert client.push("bid", rows) == count
    with pytest.raises(CatalogError, match="lack"):
        client.push("bid", pa.table({"item": ["x"]}))


def test_times_are_timestamps(client: Client) -> None:
    client.execute("CREATE STREAM visit (page STRING, ts TIMESTAMP) ORDERED BY ts")
    client.create("last", "SELECT page FROM visit WINDOW(RANGE 1 MINUTE)")
    moments = [datetime(2024, 3, 1, 12, 0), datetime(2024, 3, 1, 12, 0, 30)]
    client.push("visit", [{"page": "a", "ts": moment} for moment in moments], wait=True)
    [row] = client.snapshot("last").table.to_pylist()
    assert (row["page"], row["valid_from"]) == ("a", moments[0])
    assert client.query("last").domain == "microseconds"


def test_a_select_over_a_relation(client: Client) -> None:
    client.execute("CREATE RELATION desk (id INT, name STRING) CHANGING")
    assert client.insert("desk", [{"id": n, "name": "x"} for n in range(5)]) == 5
    assert client.delete("desk", "id > 2", at=10) == 2
    found = client.select("SELECT id FROM desk", limit=2)
    assert (found.table.num_rows, found.truncated) == (2, True)
    assert client.select("SELECT id FROM desk WHERE id = 7").table.num_rows == 0


def test_values_that_json_does_not_know_are_inserted(client: Client) -> None:
    client.execute("CREATE RELATION odd (x DOUBLE, at TIMESTAMP) CHANGING")
    moment = datetime(2024, 3, 1, 12, 0)
    client.insert("odd", [{"x": float("nan"), "at": moment}, {"x": None, "at": None}])
    rows = client.select("SELECT x, at FROM odd").table.to_pylist()
    first, second = sorted(rows, key=lambda row: row["at"] is None)
    assert (str(first["x"]), first["at"]) == ("nan", moment)
    assert (second["x"], second["at"]) == (None, None)


def test_queries_come_and_go(client: Client) -> None:
    made = client.create("dear", "SELECT item FROM bid WHERE price > 20", start=False)
    assert (made.state, made.columns[0].type) == ("stopped", "STRING")
    assert client.start("dear", partial=True).state == "running"
    client.alter("dear", "SELECT item FROM bid WHERE price > 30")
    client.optimize("dear")
    assert client.stop("dear").state == "stopped"
    assert {query.name for query in client.queries()} == {"hot", "dear"}
    client.drop("dear")
    assert [query.name for query in client.queries()] == ["hot"]
    assert client.progress("hot").rows_out == 0
    assert client.settings("hot", 0, 10).settings == {}


def test_statements_checks_and_plans(client: Client) -> None:
    done = client.execute("CREATE STREAM dear AS SELECT item FROM bid; DROP STREAM dear")
    assert [result.kind for result in done] == ["create_derived", "drop_stream"]
    checked = client.check("SELECT prise FROM bid; SELECT COUNT(*) AS n FROM bid")
    assert [error.line for error in checked.errors] == [1]
    assert "no window" in checked.warnings[0].message
    plan = client.plan(HOT)
    assert plan.plans.logical.operator == "Project"
    assert client.plan_of("hot").texts["cost"].startswith("cost")


def test_the_catalog(client: Client) -> None:
    [stream] = client.catalog().streams
    assert (stream.name, stream.time, stream.pushed, stream.used_by) == (
        "bid", "minute", True, ["hot"]
    )  # fmt: skip
    assert [column.name for column in stream.columns] == ["item", "price", "minute"]


def test_what_runs(client: Client) -> None:
    client.heartbeat("bid", 5)
    client.hint("bid", rate=3.0)
    graph = client.graph()
    assert {"hot"} == {root.query for root in graph.roots}
    node = graph.nodes[0].id
    assert len(client.node_history(node).input_rate) == len(client.node_history(node).at)
    assert client.resources().bounds == ResourceBounds(memory=None, cpu=None)
    assert client.info().runtime == "inprocess"
    with pytest.raises(TidemillError):
        client.resize({"no_such_window": 3})
    with pytest.raises(RequestError, match=r"sizes\.w: Input should be greater"):
        client.resize({"w": 0})


def test_errors_are_those_of_an_engine(client: Client) -> None:
    with pytest.raises(PlanError) as wrong:
        client.plan("SELECT item,\n  prise FROM bid")
    assert str(wrong.value).split("\n")[1:4] == [
        "  line 2, column 3",
        "      prise FROM bid",
        "      ^^^^^",
    ]
    with pytest.raises(SqlSyntaxError):
        client.execute("SELEC 1")
    with pytest.raises(CatalogError, match="already exists"):
        client.execute(BIDS)
    with pytest.raises(RequestError, match="there is no query `cold`") as missing:
        client.snapshot("cold")
    assert (missing.value.status, missing.value.kind) == (404, "not_found")


def test_live_messages(client: Client) -> None:
    with client.subscribe("results:hot", "queries", every=50) as messages:
        client.push("bid", ROWS, wait=True)
        until, seen = time.monotonic() + 20, set()
        for message in messages:
            if message.topic == "queries" or message.data["rows"]:
                seen.add(message.topic)
            if seen == {"results:hot", "queries"}:
                break
            assert time.monotonic() < until


def test_no_server_and_no_address() -> None:
    with Client("http://127.0.0.1:1") as client, pytest.raises(RequestError) as away:
        client.info()
    assert "tidemill serve" in str(away.value)
    with pytest.raises(RequestError), client.subscribe("graph"):
        pass
    with pytest.raises(TidemillError, match="not the address"):
        Client("localhost:8321")


def test_a_token_is_given_with_every_request() -> None:
    with served(token="a rose") as url, warnings.catch_warnings():
        with Client(url) as stranger, pytest.raises(RequestError) as refused:
            stranger.info()
        assert refused.value.status == 401
        with Client(url, token="a rose") as friend:
            assert friend.info().version
            with friend.subscribe("queries") as messages:
                assert next(messages).topic == "queries"
        with pytest.raises(RequestError), stranger.subscribe("queries"):
            pass
