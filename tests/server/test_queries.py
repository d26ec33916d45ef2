"""Queries over HTTP: made, changed, started, stopped and dropped; and the graph they form."""


def test_the_life_of_a_query(bids):
    made = bids.post(
        "queries", {"name": "dear", "sql": "SELECT item FROM bid WHERE price > 9"}, 201
    )
    assert (made["state"], made["sql"]) == ("running", "SELECT item FROM bid WHERE price > 9")
    assert bids.post("queries/DEAR/stop")["state"] == "stopped"
    assert bids.post("queries/dear/stop", status=409)["error"]["kind"] == "conflict"
    assert bids.post("queries/dear/start", {"partial": True})["state"] == "running"
    assert bids.post("queries/dear/start", status=409)["error"]["help"] == "stop it first"
    assert bids.call("DELETE", "queries/dear") == {"name": "dear"}
    assert bids.get("queries/dear", 404)["error"]["kind"] == "not_found"


def test_a_query_that_cannot_start_is_not_made(bids):
    bids.push((1, 1.0, 1))
    wanted = {"name": "last", "sql": "SELECT item FROM bid WINDOW(ROWS 3)"}
    said = bids.post("queries", wanted, 400)
    assert "would never be complete" in said["error"]["message"]
    assert [query["name"] for query in bids.get("queries")] == ["hot"]
    assert bids.post("queries", wanted | {"partial": True}, 201)["complete_from"] > 0


def test_errors_point_into_the_text_that_was_sent(bids):
    said = bids.post("queries", {"name": "x", "sql": "SELECT\n  itm FROM bid"}, 400)
    assert (said["error"]["line"], said["error"]["column"]) == (2, 3)
    said = bids.call("PATCH", "queries/hot", {"sql": "SELECT itm FROM bid"}, 400)
    assert said["error"]["column"] == 8


def test_names_are_taken_once(bids):
    said = bids.post("queries", {"name": "HOT", "sql": "SELECT item FROM bid"}, 409)
    assert said["error"]["message"] == "`HOT` already exists"


def test_names_are_parts_of_addresses(bids):
    bids.post("queries", {"name": "a b `c", "sql": "SELECT item FROM bid"}, 201)
    assert bids.get("queries/a%20b%20%60c/snapshot")["rows"] == []
    assert bids.call("DELETE", "queries/a%20b%20%60c") == {"name": "a b `c"}
    for name in ("a/b", "..", "x" * 300):
        assert bids.run(f"CREATE QUERY `{name}` AS SELECT item FROM bid", 400)


def test_a_query_changes_without_a_gap(bids):
    bids.push((1, 1.0, 1), (1, 2.0, 5))
    more = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 20) GROUP BY item"
    changed = bids.call("PATCH", "queries/hot", {"sql": more})
    assert changed["migration"]["split"] > 5
    [migration] = bids.get("graph")["migrations"]
    assert migration["query"] == "hot"
    assert migration["old_nodes"]
    assert migration["new_nodes"]
    bids.push((1, 3.0, 40), (1, 4.0, 60))
    assert bids.get("graph")["migrations"] == []
    assert bids.get("queries/hot/snapshot", at=55)["rows"] == [[1, 1]]
    kinds = [event["kind"] for event in bids.get("resources")["events"]]
    assert kinds == ["start", "migrate", "migrated"]


def test_one_change_at_a_time(bids):
    both = {"sql": "SELECT item FROM bid", "optimize": True}
    assert bids.call("PATCH", "queries/hot", both, 400)
    assert bids.call("PATCH", "queries/hot", {}, 400)
    assert bids.call("PATCH", "queries/hot", {"optimize": True})["state"] == "running"


def test_a_query_that_fails_says_why(bids):
    bids.post("queries", {"name": "bad", "sql": "SELECT 1 / (item - 1) AS x FROM bid"}, 201)
    bids.push((1, 1.0, 1), (1, 1.0, 2))
    bad = bids.get("queries/bad")
    assert bad["state"] == "failed"
    assert "division by zero" in bad["error"]
    assert bids.get("queries/hot")["state"] == "running"


def test_the_graph_shows_what_is_shared(bids):
    sql = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 10) GROUP BY item HAVING COUNT(*) > 1"
    bids.post("queries", {"name": "busy", "sql": sql}, 201)
    bids.push((1, 1.0, 1), (1, 1.0, 2))
    graph = bids.get("graph")
    source = next(node for node in graph["nodes"] if node["role"] == "source")
    assert source["queries"] == ["hot", "busy"]
    assert {root["query"] for root in graph["roots"]} == {"hot", "busy"}
    measures = graph["measures"]
    assert measures["rows_in"][measures["id"].index(graph["roots"][0]["node"])] > 0
    assert {len(values) for name, values in measures.items() if name not in ("tick", "at")} == {
        len(graph["nodes"])
    }


def test_the_history_of_a_part(bids):
    bids.push((1, 1.0, 1), (1, 1.0, 2))
    node = bids.get("graph")["nodes"][0]["id"]
    history = bids.get(f"graph/nodes/{node}/history")
    assert len(history["at"]) == len(history["rows_in"]) == 1
    assert bids.get("graph/nodes/999/history", 404)


def test_sizes_are_set_within_their_bounds(bids):
    sql = "SELECT item FROM bid WINDOW(RANGE MIN 5, MAX 20)"
    bids.post("queries", {"name": "wide", "sql": sql}, 201)
    bids.push((1, 1.0, 1), (1, 1.0, 2))
    [knob] = bids.get("resources")["knobs"]
    assert (knob["kind"], knob["lower"], knob["upper"], knob["queries"]) == (
        "range",
        5,
        20,
        ["wide"],
    )
    assert bids.post("graph/sizes", {"sizes": {knob["name"]: 7}})["sizes"][knob["name"]][1] == 7
    assert bids.post("graph/sizes", {"sizes": {knob["name"]: 99}}, 400)
    bids.push((1, 1.0, 50), (1, 1.0, 60))
    assert list(bids.get("queries/wide/settings")["settings"]) == [knob["name"]]
    assert bids.get("queries/wide/progress")["sources"]["bid"]["rows"] == 4


def test_info(bids):
    info = bids.get("info")
    assert info["runtime"] == "inprocess"
    assert info["limits"]["queries"] == 500
    assert info["authenticated"] is False


def test_what_nobody_knows(bids):
    assert bids.get("nothing", 404)["error"]["kind"] == "not_found"
    assert bids.get("queries/nope/snapshot", 404)["error"]["help"] == "queries: hot"
    assert bids.post("streams/nope/rows", [], 404)["error"]["help"]
    assert bids.post("check", {"text": "x"}, 422)["error"]["message"]


def test_costs_are_those_of_the_rates_that_were_measured(bids):
    """Though the query was planned before the first rows came."""
    for level in range(4):
        bids.push(*((item, 1.0, 10 * level + item) for item in range(10)))
    report = bids.get("queries/hot/plan")
    assert "guessed" not in report["texts"]["cost"]
    (scan,) = _scans(report["plans"]["optimized"])
    assert scan["cost"]["rate"] == 1.0


def _scans(node):
    if node["operator"] == "Scan":
        yield node
    for child in node["inputs"]:
        yield from _scans(child)
