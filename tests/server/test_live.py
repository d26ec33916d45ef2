"""News over the socket."""

import pytest


@pytest.fixture
def socket(bids):
    with bids.socket() as socket:
        socket.bids = bids
        yield socket


def _until(socket, topic):
    for _ in range(50):
        message = socket.receive_json()
        if message["topic"] == topic:
            return message["data"]
    raise AssertionError(f"nothing about {topic}")


def test_the_graph_comes_when_it_changes_and_measures_after_ticks(socket):
    socket.send_json({"subscribe": ["graph"], "every": 50})
    first = _until(socket, "graph")
    socket.bids.push((1, 1.0, 1))
    measures = _until(socket, "measures")
    assert len(measures["id"]) == len(first["nodes"])
    socket.bids.post("queries", {"name": "b", "sql": "SELECT item FROM bid"}, 201)
    assert _until(socket, "graph")["revision"] > first["revision"]


def test_results_come_once_and_go_on(socket):
    socket.send_json({"subscribe": ["results:hot"], "every": 50})
    assert _until(socket, "results:hot")["reset"] is True
    socket.bids.push((1, 1.0, 1), (1, 1.0, 5))
    first = _until(socket, "results:hot")
    assert (first["reset"], first["rows"], first["valid_from"]) == (False, [[1, 1]], [1])
    socket.bids.push((2, 1.0, 8))
    second = _until(socket, "results:hot")
    assert second["complete_until"] == 8
    assert [1, 2] in second["rows"]


def test_all_topics_say_something(socket):
    topics = ["queries", "resources", "events", "catalog"]
    socket.send_json({"subscribe": topics, "every": 50})
    assert {socket.receive_json()["topic"] for _ in topics} == set(topics)


def test_a_query_that_is_not_there_yet(socket):
    socket.send_json({"subscribe": ["results:later"], "every": 50})
    assert "there is no query" in _until(socket, "results:later")["error"]["message"]
    socket.bids.post("queries", {"name": "later", "sql": "SELECT item FROM bid"}, 201)
    assert _until(socket, "results:later")["reset"] is True


@pytest.mark.parametrize(
    "wish", ["", "{", "[]", '{"subscribe": ["x"]}', '{"subscribe": [1]}', '{"subscribe": 1}',
             '{"subscribe": [], "every": "soon"}', '{"subscribe": [], "every": 1e999}'],
)  # fmt: skip
def test_what_is_not_understood_is_said(shared, wish):
    with shared.socket() as socket:
        socket.send_text(wish)
        assert socket.receive_json()["topic"] == "error"
        socket.send_json({"subscribe": ["queries"]})
        assert socket.receive_json()["topic"] == "queries"
