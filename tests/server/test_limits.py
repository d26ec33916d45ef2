"""Limits on what clients may ask for, each with words that say what to do."""

import pytest


def _limits(**limits):
    return pytest.mark.parametrize("limited", [limits], indirect=True)


@_limits(body_bytes=1000)
def test_bodies_are_not_too_large(limited):
    said = limited.post("check", {"sql": "x" * 2000}, 413)
    assert said["error"]["kind"] == "too_large"

    def pieces():
        yield b'{"sql": "'
        for _ in range(100):
            yield b"x" * 50
        yield b'"}'

    for path in ("/api/check", "/api/streams/bid/rows"):
        said = limited.http.post(
            path, content=pieces(), headers={"content-type": "application/json"}
        )
        assert (said.status_code, said.json()["error"]["kind"]) == (413, "too_large")


@_limits(sql_characters=50)
def test_texts_are_not_too_long(limited):
    long = {"sql": "SELECT item FROM bid WHERE item = 1 OR item = 2 OR item = 3"}
    for path in ("statements", "check", "plan", "run"):
        assert limited.post(path, long, 413)["error"]["help"]
    assert limited.post("queries", {"name": "x", **long}, 413)
    assert limited.call("PATCH", "queries/hot", long, 413)


@_limits(queries=2)
def test_there_are_not_too_many_queries(limited):
    limited.post("queries", {"name": "b", "sql": "SELECT item FROM bid"}, 201)
    assert limited.post("queries", {"name": "c", "sql": "SELECT item FROM bid"}, 429)
    assert limited.run("CREATE QUERY c AS SELECT item FROM bid", 429)["error"]["help"]
    limited.call("DELETE", "queries/b")
    limited.post("queries", {"name": "c", "sql": "SELECT item FROM bid"}, 201)


@_limits(result_rows=2)
def test_answers_are_not_too_long(limited):
    limited.push(*((item, 1.0, 1) for item in range(5)), (9, 1.0, 2))
    said = limited.get("queries/hot/snapshot", limit=1000)
    assert (len(said["rows"]), said["truncated"]) == (2, True)


@_limits(waiting_rows=3)
def test_rows_that_nobody_reads_do_not_pile_up(limited):
    limited.run("CREATE STREAM s (a BIGINT, t BIGINT) ORDERED BY t")
    rows = [{"a": 1, "t": 1}] * 2
    limited.post("streams/s/rows", rows)
    assert "start a query" in limited.post("streams/s/rows", rows, 429)["error"]["help"]


@_limits(sockets=1)
def test_there_are_not_too_many_sockets(limited):
    from starlette.websockets import WebSocketDisconnect

    with limited.socket() as first:
        first.send_json({"subscribe": ["queries"]})
        assert first.receive_json()["topic"] == "queries"
        with pytest.raises(WebSocketDisconnect) as closed, limited.socket() as second:
            second.receive_text()
        assert closed.value.code == 1013


@_limits(run_seconds=0.0)
def test_runs_do_not_take_too_long(limited):
    limited.run("CREATE RELATION r (a BIGINT) CHANGING")
    assert (
        "takes more than"
        in limited.post("run", {"sql": "SELECT a FROM r"}, 503)["error"]["message"]
    )


@_limits(wait_seconds=0.0)
def test_nobody_waits_for_ever(limited):
    said = limited.post("streams/bid/rows", [{"item": 1, "price": 1, "at": 1}], 503, wait="true")
    assert "no tick" in said["error"]["message"]
