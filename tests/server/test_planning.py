"""Queries are planned once, while everyone else goes on."""

import threading

import pytest

from tidemill.engine import Engine, planning

SQL = "SELECT item, price FROM bid WINDOW(RANGE 5) WHERE price > 3"
OTHER = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY item"
NODES = [
    {"id": "a", "kind": "scan", "settings": {"source": "bid"}},
    {"id": "b", "kind": "filter", "settings": {"condition": "price > 3"}, "inputs": ["a"]},
]
LOGICAL = {"level": "logical", "nodes": NODES}
PHYSICAL = {
    "level": "physical",
    "nodes": [
        {"id": "a", "kind": "source", "settings": {"source": "bid"}},
        {"id": "b", "kind": "filter", "settings": {"condition": "price > 3"}, "inputs": ["a"]},
    ],
}


class Watched:
    """The plans that a server makes: whether it was locked for each."""

    def __init__(self, monkeypatch, server):
        self.locked = []
        self.lock = server.http.app.state.service.lock
        self.then = lambda: None
        for name in ("plan_query", "optimized"):
            self._watch(monkeypatch, name)

    def _watch(self, monkeypatch, name):
        plan = getattr(planning, name)

        def watched(*arguments):
            found = plan(*arguments)
            if name == "plan_query":
                self.locked.append(self.lock._is_owned())
                then, self.then = self.then, lambda: None
                then()
            assert not self.lock._is_owned() or self.locked[-1]
            return found

        monkeypatch.setattr(planning, name, watched)


@pytest.fixture
def watched(monkeypatch, bids):
    return Watched(monkeypatch, bids)


WAYS = {
    "queries": ("POST", "queries", {"name": "q", "sql": SQL}),
    "statement": ("POST", "statements", {"sql": f"CREATE QUERY q AS {SQL}; START QUERY q"}),
    "derived": ("POST", "statements", {"sql": f"CREATE STREAM q AS {SQL}"}),
    "change": ("PATCH", "queries/hot", {"sql": OTHER}),
    "alter": ("POST", "statements", {"sql": f"ALTER QUERY hot AS {OTHER}"}),
    "logical": ("POST", "compose/run", {"name": "q", "plan": LOGICAL}),
    "physical": ("POST", "compose/run", {"name": "q", "plan": PHYSICAL}),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_query_is_planned_once_and_without_the_lock(bids, watched, way):
    method, path, body = WAYS[way]
    said = bids.http.request(method, f"/api/{path}", json=body)
    assert said.is_success, said.text
    assert watched.locked == [False]
    bids.push((1, 9.0, 3), (1, 2.0, 30))
    if way not in ("derived", "change", "alter"):
        rows = bids.get("queries/q/results")["rows"]
        assert [row[:2] for row in rows] == [[1, 9.0]]


@pytest.mark.parametrize("path", ["compose/check", "compose/open"])
def test_drawn_plans_are_looked_at_without_the_lock(bids, watched, path):
    body = {"query": SQL, "level": "physical"} if path == "compose/open" else LOGICAL
    bids.post(path, body)
    assert watched.locked == [False]


def test_a_query_is_planned_again_if_its_stream_became_another(bids, watched):
    bids.run("CREATE STREAM other (x BIGINT, at BIGINT) ORDERED BY at")

    def swap():
        def work():
            bids.run(
                "DROP STREAM other; CREATE STREAM other (y STRING, x INT, at BIGINT) ORDERED BY at"
            )

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    watched.then = swap
    bids.run("CREATE QUERY q AS SELECT x FROM other WINDOW(RANGE 5)")
    assert watched.locked == [False, False]
    (column,) = bids.get("queries/q")["columns"]
    assert column["type"] == "INT"


def test_a_query_is_planned_again_if_one_that_it_reads_became_another(bids, watched):
    def change():
        thread = threading.Thread(target=bids.run, args=(f"ALTER QUERY hot AS {SQL}",))
        thread.start()
        thread.join()

    bids.run("STOP QUERY hot")
    watched.then = change
    bids.run("CREATE VIEW v AS SELECT * FROM hot")
    columns = bids.get("queries/hot")["columns"]
    told = bids.run("DESCRIBE v")["results"][0]["table"]["rows"]
    assert told == [[each["name"], each["type"]] for each in columns]


def test_an_answer_is_asked_for_without_the_lock(bids, monkeypatch):
    lock, owned, answer = bids.http.app.state.service.lock, [], Engine.answer

    def watched(engine, statement):
        owned.append(lock._is_owned())
        return answer(engine, statement)

    monkeypatch.setattr(Engine, "answer", watched)
    bids.push((1, 9.0, 3), (1, 2.0, 30))
    assert bids.post("run", {"sql": "SELECT COUNT(*) AS n FROM hot", "at": 3})["rows"] == [[1]]
    assert owned == [False]
