"""The results of queries: now, in a range of time, and as changes; as JSON, Arrow and CSV."""

import json

import pyarrow as pa
import pytest

ARROW = "application/vnd.apache.arrow.stream"


@pytest.fixture
def hot(bids):
    bids.push((1, 1.0, 1), (2, 1.0, 3), (1, 1.0, 5))
    bids.push((3, 1.0, 20))
    return bids


def test_a_snapshot_is_of_the_newest_instant(hot):
    said = hot.get("queries/hot/snapshot")
    assert (said["at"], said["complete_until"], said["rows"]) == (19, 20, [])
    said = hot.get("queries/hot/snapshot", at=4)
    assert said["rows"] == [[1, 1], [2, 1]]
    assert (said["valid_from"], said["valid_to"]) == ([1, 3], [5, 13])


def test_results_hold_in_a_range(hot):
    said = hot.get("queries/hot/results", **{"from": 5, "to": 12})
    assert said["rows"] == [[2, 1], [1, 2], [1, 1]]
    assert said["valid_to"] == [13, 11, 15]
    assert hot.get("queries/hot/results", limit=1)["truncated"] is True


def test_changes_are_read_on_from_a_cursor(hot):
    seen, cursor = [], 0
    for _ in range(9):
        said = hot.get("queries/hot/changes", since=cursor, limit=2)
        seen += zip(said["at"], said["change"], said["rows"], strict=True)
        cursor = said["cursor"]
    assert cursor == 20
    assert [at for at, _, _ in seen] == [1, 3, 5, 5, 11, 11, 13, 15]
    assert seen[2:4] == [(5, "-", [1, 1]), (5, "+", [1, 2])]
    assert hot.get("queries/hot/changes", since=cursor)["rows"] == []


def test_as_arrow(hot):
    said = hot.http.get("/api/queries/hot/results", headers={"accept": ARROW})
    assert said.headers["content-type"] == ARROW
    table = pa.ipc.open_stream(said.content).read_all()
    assert table.column_names == ["item", "n", "valid_from", "valid_to"]
    facts = json.loads(table.schema.metadata[b"tidemill"])
    assert facts == {"truncated": False, "complete_until": 20}
    said = hot.http.get("/api/queries/hot/changes?format=arrow")
    table = pa.ipc.open_stream(said.content).read_all()
    assert table.column_names == ["item", "n", "at", "change"]


def test_as_csv(hot):
    said = hot.http.get("/api/queries/hot/results?format=csv&limit=1")
    assert said.headers["content-type"] == "text/csv; charset=utf-8"
    assert said.text == '"item","n","valid_from","valid_to"\n1,1,1,5\n'
    assert hot.get("queries/hot/results", 422, format="xml")


def test_a_query_that_was_not_started_has_no_rows(bids):
    bids.run("CREATE QUERY later AS SELECT item FROM bid")
    assert bids.get("queries/later/snapshot")["rows"] == []
    assert bids.get("queries/later/progress", 409)


def test_the_same_answer_is_made_once_for_a_tick(hot, monkeypatch):
    from tidemill.server import results

    made = []
    real = results.snapshot
    monkeypatch.setattr(results, "snapshot", lambda *given: made.append(1) or real(*given))
    for _ in range(5):
        hot.get("queries/hot/snapshot")
    assert len(made) == 1
    hot.push((1, 1.0, 30))
    hot.get("queries/hot/snapshot")
    assert len(made) == 2


def test_values_as_json_has_them(server):
    server.run(
        "CREATE STREAM s (big BIGINT, dec DECIMAL(10, 2), x DOUBLE, b BINARY, d DATE, "
        "l ARRAY<BIGINT>, ts TIMESTAMP) ORDERED BY ts;"
        "CREATE QUERY q AS SELECT big, dec, x, b, d, l FROM s WINDOW(RANGE 1 HOUR); START QUERY q"
    )
    row = {
        "big": str(2**60),
        "dec": "1.50",
        "x": "NaN",
        "b": "YWI=",
        "d": "2024-03-01",
        "l": [1, 2],
    }
    rows = [row | {"ts": f"2024-03-01T00:00:0{second}Z"} for second in (0, 1)]
    server.post("streams/s/rows", rows, wait="true")
    said = server.get("queries/q/snapshot")
    assert said["domain"] == "microseconds"
    assert said["rows"] == [[str(2**60), "1.50", "NaN", "YWI=", "2024-03-01", [1, 2]]]
    assert said["valid_from"] == [1_709_251_200_000_000]
    assert "YWI=" in server.http.get("/api/queries/q/snapshot?format=csv").text


def test_the_answers_of_queries_can_be_asked_at_an_instant(hot):
    asked = {"sql": "SELECT item FROM hot WHERE n = :n ORDER BY item DESC", "at": 4}
    said = hot.post("run", asked | {"parameters": {"n": 1}})
    assert (said["rows"], said["at"]) == ([[2], [1]], 4)
    hot.run("CREATE VIEW v AS SELECT item FROM hot")
    assert hot.post("run", {"sql": "SELECT item FROM v"})["rows"] == []
    assert (
        "not known at 99"
        in hot.post("run", asked | {"at": 99, "parameters": {"n": 1}}, 400)["error"]["message"]
    )
