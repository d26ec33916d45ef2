"""Composed plans over HTTP."""

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.server.served import served
from tidemill.server.app import create_app
from tidemill.server.settings import Settings
from tidemill.server.startup import begin

URL = "http://127.0.0.1:8321"


def node(id: str, kind: str, /, *inputs: str, **settings: Any) -> dict[str, Any]:
    return {"id": id, "kind": kind, "settings": settings, "inputs": list(inputs)}


LOGICAL = {
    "nodes": [
        node("a", "scan", source="bid"),
        node("b", "time_window", "a", size="5"),
        node("c", "aggregate", "b", keys="item", aggregates="COUNT(*) AS n"),
    ]
}
PHYSICAL = {
    "level": "physical",
    "nodes": [
        node("a", "source", source="bid", columns="item"),
        node("b", "time_window", "a", size="5"),
        node("c", "aggregate", "b", keys="item", aggregates="COUNT(*) AS n"),
    ],
}
NUMBERED = {
    "level": "physical",
    "nodes": [node("a", "source", source="bid"), node("b", "row_number", "a", name="number")],
}


@pytest.fixture(scope="module")
def client():
    with served() as server, TestClient(server.app, base_url=URL) as found:
        yield found


def test_the_palette(client: TestClient):
    for level in ("logical", "physical"):
        found = client.get("/api/compose/operators", params={"level": level}).json()
        assert found["level"] == level
        assert len(found["operators"]) > 20
    assert client.get("/api/compose/operators", params={"level": "x"}).status_code == 422


@pytest.mark.parametrize("plan", [LOGICAL, PHYSICAL], ids=["logical", "physical"])
def test_a_plan_that_is_right(client: TestClient, plan: dict[str, Any]):
    found = client.post("/api/compose/check", json=plan).json()
    assert found["complete"]
    sql = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY item"
    assert " ".join(found["sql"].split()) == sql
    assert set(found["plans"]) == {"logical", "optimized", "physical"}
    assert found["total"]["state_rows"] > 0
    assert "Aggregate" in found["texts"]["cost"]


def test_a_plan_that_sql_cannot_say(client: TestClient):
    found = client.post("/api/compose/check", json=NUMBERED).json()
    assert found["complete"]
    assert found["sql"] is None
    assert "numbers of rows" in found["sql_reason"]
    assert found["plans"]["logical"] is None
    assert found["plans"]["physical"]["operator"] == "ProjectExec"


def test_a_plan_that_is_wrong_is_no_error(client: TestClient):
    plan = {"nodes": [node("a", "scan", source="bidd"), node("b", "filter")]}
    response = client.post("/api/compose/check", json=plan)
    assert response.status_code == 200
    found = response.json()
    assert not found["complete"]
    assert found["plans"] is None
    assert {(each["node"], each["setting"]) for each in found["errors"]} >= {
        ("a", "source"),
        ("b", "condition"),
        ("b", None),
    }


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {},
        {"nodes": [{}]},
        {"nodes": [node("", "scan")]},
        {"nodes": [node("a", "scan") | {"x": "left"}]},
        {"nodes": [node("a", "scan", source="b" * 10_001)]},
        {"nodes": [node("a", "scan", source={"name": "bid"})]},
        {"nodes": [node(f"n{n}", "scan") for n in range(501)]},
        {"nodes": [], "level": "middle"},
        {"nodes": [], "more": 1},
    ],
)
def test_what_is_no_plan_is_refused(client: TestClient, body: Any):
    assert client.post("/api/compose/check", json=body).status_code == 422


def test_too_much_text_is_refused(client: TestClient):
    nodes = [node(f"n{n}", "filter", condition="x" * 9000) for n in range(30)]
    assert client.post("/api/compose/check", json={"nodes": nodes}).status_code == 413


def test_a_query_is_opened(client: TestClient):
    found = client.post("/api/compose/open", json={"query": "highest"}).json()
    assert [each["kind"] for each in found["nodes"]] == [
        *("scan", "time_window", "aggregate", "project")
    ]
    assert client.post("/api/compose/check", json=found).json()["complete"]
    assert client.post("/api/compose/open", json={"query": "hghest"}).status_code == 404
    assert client.post("/api/compose/open", json={"query": "SELECT x FROM"}).status_code == 400
    statement = {"query": "DROP QUERY highest"}
    assert client.post("/api/compose/open", json=statement).status_code == 400


def test_plans_run(client: TestClient):
    for name, plan in (("by_hand", LOGICAL), ("as_is", PHYSICAL)):
        made = client.post("/api/compose/run", json={"name": name, "plan": plan})
        assert made.status_code == 201, made.text
        assert made.json()["query"]["state"] == "running"
    again = client.post("/api/compose/run", json={"name": "by_hand", "plan": LOGICAL})
    assert again.status_code == 409
    half = {"nodes": [node("b", "filter")]}
    assert client.post("/api/compose/run", json={"name": "x", "plan": half}).status_code == 400
    assert client.post("/api/queries/as_is/stop").json()["state"] == "stopped"
    for name in ("by_hand", "as_is"):
        assert client.delete(f"/api/queries/{name}").status_code == 200


def test_a_physical_plan_survives_a_restart(tmp_path: Path):
    settings = Settings(folder=tmp_path, every=0.02)
    script = "CREATE STREAM bid (item STRING, price BIGINT, at BIGINT) ORDERED BY at"
    rows = [{"item": "a", "price": n, "at": n} for n in range(1, 9)]
    with TestClient(create_app(begin(settings, script), settings), base_url=URL) as client:
        client.post("/api/compose/run", json={"name": "q", "plan": PHYSICAL}).raise_for_status()
        client.post("/api/streams/bid/rows?wait=true", json=rows).raise_for_status()
    with TestClient(create_app(begin(settings), settings), base_url=URL) as client:
        assert client.get("/api/queries/q").json()["state"] == "running"
        opened = client.post("/api/compose/open", json={"query": "q", "level": "physical"}).json()
        assert [each["kind"] for each in opened["nodes"]] == ["source", "time_window", "aggregate"]
        late = [{"item": "a", "price": 1, "at": 20}]
        client.post("/api/streams/bid/rows?wait=true", json=late).raise_for_status()
        found = client.get("/api/queries/q/results").json()
        assert found["rows"][:5] == [["a", n] for n in range(1, 6)]
        assert found["valid_from"][:5] == [1, 2, 3, 4, 5]
