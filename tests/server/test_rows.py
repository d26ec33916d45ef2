"""Rows that are pushed over HTTP."""

import pyarrow as pa
import pytest

ARROW = "application/vnd.apache.arrow.stream"


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def test_rows_come_as_a_list_or_an_object_or_arrow(bids):
    row = {"item": 1, "price": 2.5, "at": 1}
    assert bids.post("streams/bid/rows", [row]) == {"rows": 1}
    assert bids.post("streams/bid/rows", {"rows": [row]}) == {"rows": 1}
    table = pa.table({"item": [1, 2], "price": [1.0, 2.0], "at": [2, 3]})
    said = bids.http.post(
        "/api/streams/bid/rows?wait=true", content=_stream(table), headers={"content-type": ARROW}
    )
    assert said.json() == {"rows": 2}
    [stream] = bids.get("catalog")["streams"]
    assert (stream["rows"], stream["watermark"], stream["pushed"]) == (4, 3, True)
    assert stream["used_by"] == ["hot"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"item": 1, "prise": 2, "at": 1}], "no column `prise`"),
        ([{"item": "x", "price": 2, "at": 1}], "column `item`, row 1"),
        ([{"item": 2**70, "price": 2, "at": 1}], "column `item`, row 1"),
        ([{"item": True, "price": 2, "at": 1}], "true and false are no numbers"),
        ([{"item": 1, "price": 2}], "the time column `at` of `bid` is NULL"),
        ([{"item": 1, "price": 2, "at": -1}], "before the beginning of time"),
        ([{"item": 1, "price": 2, "at": 2**63 - 1}], "beyond the end of time"),
        ([[1, 2, 3]], "the body has no rows"),
        ({"rows": 7}, "the body has no rows"),
        (7, "the body has no rows"),
    ],
)
def test_wrong_rows_are_refused_and_no_tick_fails_for_them(shared, rows, words):
    said = shared.post("streams/bid/rows", rows, 400)
    assert words in said["error"]["message"]
    shared.push((1, 1.0, 1))
    assert not [e for e in shared.get("resources")["events"] if e["kind"] == "fail"]


@pytest.mark.parametrize("kind", ["application/json", ARROW])
def test_bodies_that_are_nothing(shared, kind):
    for body in (b"", b"{", b"\xff\xff\xff\xff\x10\x00\x00\x00", b"[" * 3000):
        said = shared.http.post(
            "/api/streams/bid/rows", content=body, headers={"content-type": kind}
        )
        assert said.status_code == 400, said.text


def test_waiting_for_a_stream_that_nobody_reads(server):
    server.run("CREATE STREAM s (a BIGINT, t BIGINT) ORDERED BY t")
    said = server.post("streams/s/rows", [{"a": 1, "t": 1}], 409, wait="true")
    assert said["error"]["message"] == "no query reads `s`: its rows wait in memory"
    assert server.post("streams/s/rows", [{"a": 1, "t": 1}]) == {"rows": 1}
    server.run("CREATE QUERY q AS SELECT a FROM s; START QUERY q")
    server.post("streams/s/rows", [{"a": 1, "t": 2}], wait="true")
    assert server.get("queries/q/results")["rows"] == [[1]]


def test_a_heartbeat_moves_time(bids):
    bids.push((1, 1.0, 1))
    assert bids.post("streams/bid/heartbeat", {"at": 8}) == {"at": 8}
    bids.push((1, 1.0, 5), (1, 1.0, 9))
    [stream] = bids.get("catalog")["streams"]
    assert stream["late_rows"] == 1
    assert bids.get("resources")["events"][-1]["kind"] == "late"


def test_rows_for_what_is_no_stream(server):
    server.run(
        "CREATE RELATION r (a BIGINT) CHANGING;"
        "CREATE STREAM s (a BIGINT, t BIGINT) ORDERED BY t; CREATE STREAM d AS SELECT a FROM s"
    )
    for name in ("r", "d"):
        assert server.post(f"streams/{name}/rows", [{"a": 1}], 400)["error"]["message"]
    assert server.post("relations/s/rows", {"rows": [{"a": 1, "t": 1}]}, 400)["error"]["help"]
