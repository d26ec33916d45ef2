"""Statements over HTTP: run, checked, planned."""

import pytest


def test_statements_are_run_one_by_one(server):
    made = server.run("CREATE STREAM s (a BIGINT, t BIGINT) ORDERED BY t; SELECT a FROM s")
    assert [(each["kind"], each["name"]) for each in made["results"]] == [
        ("create_stream", "s"),
        ("select", None),
    ]
    assert made["results"][1]["query"]["columns"] == [{"name": "a", "type": "BIGINT"}]


def test_an_error_tells_its_place_and_how_many_statements_were_run(server):
    sql = "CREATE STREAM s (a BIGINT, t BIGINT) ORDERED BY t;\nSELECT b FROM s"
    said = server.run(sql, 400)
    assert said["done"] == 1
    error = said["error"]
    assert (error["line"], error["column"], error["length"], error["kind"]) == (2, 8, 1, "plan")
    assert [stream["name"] for stream in server.get("catalog")["streams"]] == ["s"]


def test_nothing_is_run_if_the_text_cannot_be_read(server):
    said = server.run("CREATE STREAM s (a BIGINT, t BIGINT) ORDERED BY t; SELEC 1", 400)
    assert (said["done"], said["error"]["kind"]) == (0, "syntax")
    assert server.get("catalog")["streams"] == []


def test_checking_runs_nothing(bids):
    text = "CREATE QUERY x AS SELECT itm FROM bid"
    said = bids.post("check", {"sql": text})
    assert said["statements"] == [{"kind": "create_query", "name": "x", "start": 0, "end": 37}]
    assert said["errors"][0]["help"].startswith("did you mean `item`?")
    assert bids.post("check", {"sql": "CREATE QUERY x AS SELECT item FROM bid"})["errors"] == []
    assert [query["name"] for query in bids.get("queries")] == ["hot"]


def test_a_plan_has_levels_costs_and_rules(bids):
    said = bids.post("plan", {"sql": "SELECT item FROM bid WINDOW(RANGE 5) WHERE 1 = 1"})
    assert said["plans"]["logical"]["operator"] == "Project"
    assert said["plans"]["optimized"]["cost"]["rate"] > 0
    assert said["plans"]["physical"]["inputs"][0]["operator"].endswith("Exec")
    assert "simplify_filters" in [rule["name"] for rule in said["rules"]]
    assert said["texts"].keys() == {"stages", "cost", "verbose"}
    assert bids.get("queries/hot/plan")["sql"].startswith("SELECT item, COUNT(*)")


def test_what_is_no_query_has_no_plan(bids):
    assert bids.post("plan", {"sql": "DROP STREAM bid"}, 400)["error"]["message"]
    assert bids.post("plan", {"sql": ""}, 400)["error"]["message"] == "there is no statement"


def test_queries_over_relations_are_run_at_once(server):
    server.run("CREATE RELATION r (a BIGINT, b DECIMAL(20, 2)) CHANGING")
    rows = [{"a": 2**60, "b": "1.50"}, {"a": 1, "b": None}]
    assert server.post("relations/r/rows", {"rows": rows}) == {"rows": 2}
    said = server.post("run", {"sql": "SELECT a, b FROM r"})
    assert sorted(said["rows"], key=str) == [[str(2**60), "1.50"], [1, None]]
    deleted = server.call("DELETE", "relations/r/rows", {"where": "a = 1"})
    assert deleted == {"rows": 1}
    assert len(server.post("run", {"sql": "SELECT a FROM r", "limit": 0})["rows"]) == 0


def test_queries_over_pushed_streams_never_end(bids):
    said = bids.post("run", {"sql": "SELECT item FROM bid"}, 400)
    assert "START QUERY" in said["error"]["help"]


@pytest.mark.parametrize("sink", ["console()", "memory()"])
def test_the_terminal_and_memory_of_the_server_are_no_sinks(bids, sink):
    said = bids.run(f"INSERT INTO {sink} SELECT item FROM bid", 400)
    assert said["error"]["column"] == 13


def test_sources_and_sinks_are_held_to_the_list(bids, tmp_path):
    (tmp_path / "secret.csv").write_text("password\nhunter2\n")
    create = f"CREATE RELATION r (password STRING) SOURCE csv(path => '{tmp_path}/secret.csv')"
    for path in ("statements", "check"):
        said = bids.http.post(f"/api/{path}", json={"sql": create})
        assert "is not allowed here" in said.text
        assert "hunter2" not in said.text
    said = bids.run(f"INSERT INTO csv(path => '{tmp_path}/out') SELECT item FROM bid", 400)
    assert "--allow" in said["error"]["help"]


def test_hints_are_taken(bids):
    told = bids.post("hints", {"stream": "bid", "rate": 3, "distinct": {"item": 500}})
    assert "item=500" in told["statistics"]
    assert bids.post("hints", {"rate": 3}, 400)["error"]["help"]


def test_deep_nesting_is_refused(bids):
    said = bids.run("(" * 5000 + "SELECT 1" + ")" * 5000, 400)
    assert "nested too deeply" in said["error"]["message"]


def test_what_there_is_is_told_as_a_table(bids):
    bids.run("CREATE VIEW dear AS SELECT item FROM bid WHERE price > 100")
    [shown, described, explained] = bids.run(
        "SHOW TABLES; DESCRIBE hot; EXPLAIN SELECT item FROM dear"
    )["results"]
    assert (shown["kind"], shown["table"]["columns"]) == ("show_objects", ["name", "kind"])
    assert ["dear", "view"] in shown["table"]["rows"]
    assert described["table"]["rows"][0] == ["item", "BIGINT"]
    assert explained["table"]["rows"][0] == ["logical"]
    assert (
        "EXPLAIN ANALYZE"
        in bids.run("EXPLAIN ANALYZE SELECT item FROM dear", 400)["error"]["message"]
    )
    assert bids.run("EXPLAIN ANALYZE hot")["results"][0]["table"]["rows"][0] == ["cost"]


def test_statements_may_have_nothing_to_do(bids):
    said = bids.run("CREATE QUERY IF NOT EXISTS hot AS SELECT item FROM bid; DROP VIEW IF EXISTS v")
    assert [each["message"] for each in said["results"]] == [
        "hot already exists: nothing was done",
        "v does not exist: nothing was done",
    ]


def test_parameters_are_values_of_their_type(bids):
    day = {"type": "DATE", "value": "2024-03-01"}
    sql = "CREATE QUERY dear AS SELECT item, :day AS day FROM bid WHERE CAST(item AS STRING) = :who"
    said = bids.post("statements", {"sql": sql, "parameters": {"day": day, "who": "'; DROP --"}})
    assert said["results"][0]["query"]["columns"][1] == {"name": "day", "type": "DATE"}
    [(statement,)] = bids.run("SHOW CREATE dear")["results"][0]["table"]["rows"]
    assert statement.endswith("""= '\\'; DROP --'""")
    wrong = {"sql": "SELECT ? AS n FROM bid", "parameters": [{"type": "DAY", "value": "1"}]}
    assert "is no value" in bids.post("plan", wrong, 400)["error"]["message"]
