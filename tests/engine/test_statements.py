"""Statements in SQL: views, IF EXISTS, OR REPLACE, SHOW, DESCRIBE, EXPLAIN, and parameters."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest

import tidemill as tm
from tidemill.engine.kept import KeptStore
from tidemill.errors import CatalogError, SqlSyntaxError
from tidemill.sql import Parameters, Tidemill, parse

STREAM = "CREATE STREAM bid (item STRING, price BIGINT, at BIGINT) ORDERED BY at SLACK 2"
COUNT = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 10) GROUP BY item"
REPLACE = f"CREATE OR REPLACE VIEW bid AS {COUNT}"
ROWS = [("a", 3, 1), ("b", 9, 2), ("a", 1, 3), ("b", 1, 5), ("e", 5, 20)]
BIDS = [dict(zip(("item", "price", "at"), row, strict=True)) for row in ROWS]


@pytest.fixture
def engine() -> tm.Engine:
    engine = tm.Engine(runtime="inprocess", keep=KeptStore(1000))
    engine.sql(STREAM)
    return engine


def _told(engine: tm.Engine, sql: str) -> list[tuple[str, ...]]:
    return [tuple(row.values()) for row in engine.sql(sql).to_pylist()]


def test_a_view_is_the_answer_of_its_query_at_every_instant():
    engine = tm.Engine(runtime="inprocess")
    engine.stream("bid", BIDS, time="at")
    engine.sql(f"CREATE VIEW counts AS {COUNT}; CREATE VIEW IF NOT EXISTS counts AS {COUNT}")
    found = engine.sql("SELECT item FROM counts WHERE n = 2").collect(coalesce=True)
    assert [tuple(row.values()) for row in found.to_pylist()] == [("a", 3, 11), ("b", 5, 12)]


def test_a_view_is_replaced_if_nothing_reads_it(engine):
    engine.sql("CREATE VIEW v AS SELECT item FROM bid")
    engine.sql("CREATE OR REPLACE VIEW v AS SELECT price FROM bid")
    assert _told(engine, "DESCRIBE v") == [("price", "BIGINT")]
    engine.sql("CREATE VIEW w AS SELECT * FROM v")
    with pytest.raises(CatalogError, match="cannot replace view `v`: `w` depends on it"):
        engine.sql("CREATE OR REPLACE VIEW v AS SELECT item FROM bid")
    engine.sql("DROP VIEW w; DROP VIEW IF EXISTS w; DROP VIEW v")
    assert _told(engine, "SHOW VIEWS") == []


def test_views_and_streams_are_not_confused(engine):
    engine.sql("CREATE VIEW v AS SELECT item FROM bid")
    for sql in ("DROP STREAM v", "DROP VIEW bid", REPLACE):
        with pytest.raises(CatalogError, match=r"is a (view|stream), not a (view|stream)"):
            engine.sql(sql)


def test_streams_and_relations_are_replaced_as_a_whole(engine):
    engine.sql("CREATE OR REPLACE STREAM bid (id INT, at BIGINT) ORDERED BY at")
    assert _told(engine, "DESCRIBE bid") == [("id", "INT"), ("at", "BIGINT")]
    engine.sql("CREATE QUERY q AS SELECT id FROM bid")
    with pytest.raises(CatalogError, match="`query q` depends on it"):
        engine.sql(STREAM.replace("CREATE", "CREATE OR REPLACE"))


def test_a_query_that_runs_is_replaced_without_a_gap(engine):
    engine.run(every=None)
    engine.sql(f"CREATE OR REPLACE QUERY q AS {COUNT}; START QUERY q")
    engine.push("bid", BIDS[:2])
    engine.graph.tick()
    engine.sql(f"CREATE OR REPLACE QUERY q AS {COUNT} HAVING COUNT(*) > 1")
    assert "HAVING" in engine.queries.find("q").sql
    assert engine.graph.query("q").is_active
    with pytest.raises(CatalogError, match="the sink of `q` cannot be replaced"):
        engine.sql(f"CREATE OR REPLACE QUERY q AS INSERT INTO console() {COUNT}")


def test_nothing_is_done_about_what_is_not_there(engine):
    engine.sql("DROP QUERY IF EXISTS q; START QUERY IF EXISTS q; STOP QUERY IF EXISTS q")
    engine.sql("ALTER QUERY IF EXISTS q OPTIMIZE; DROP RELATION IF EXISTS r")
    assert not engine.check("DROP QUERY IF EXISTS q; ALTER QUERY IF EXISTS q OPTIMIZE").errors
    script = f"CREATE OR REPLACE VIEW v AS {COUNT}; CREATE OR REPLACE VIEW v AS SELECT item FROM v"
    assert "cannot replace" not in str(engine.check(script).errors)
    with pytest.raises(SqlSyntaxError, match="exclude each other"):
        engine.sql(f"CREATE OR REPLACE VIEW IF NOT EXISTS v AS {COUNT}")


def test_show_lists_what_there_is(engine):
    engine.sql(f"CREATE VIEW v AS {COUNT}; CREATE QUERY q AS {COUNT}")
    engine.sql("CREATE RELATION desk (id INT) CHANGING")
    tables = [("bid", "stream"), ("v", "view"), ("desk", "relation")]
    assert _told(engine, "SHOW TABLES") == tables
    assert _told(engine, "SHOW STREAMS") == tables[:1]
    assert _told(engine, "show relations") == tables[2:]
    assert _told(engine, "SHOW QUERIES") == [("q", "stopped", "bid")]
    assert str(engine.sql("SHOW VIEWS")) == "name  kind\nv     view"


def test_show_create_gives_a_statement_that_can_be_run(engine):
    engine.sql(f"CREATE VIEW v AS {COUNT}; CREATE QUERY q AS {COUNT}")
    other = tm.Engine(runtime="inprocess")
    for name in ("bid", "v", "q"):
        [(statement,)] = _told(engine, f"SHOW CREATE {name}")
        other.sql(statement)
    assert [each.name for each in other.listing()] == ["bid", "v", "q"]


def test_describe_and_explain(engine):
    engine.sql(f"CREATE QUERY q AS {COUNT}")
    assert _told(engine, "DESC q") == [("item", "STRING"), ("n", "BIGINT")]
    assert _told(engine, "DESCRIBE STREAM bid")[-1] == ("at", "BIGINT")
    for level in ("", "LOGICAL", "OPTIMIZED", "PHYSICAL", "STAGES", "COST"):
        text = str(engine.sql(f"EXPLAIN {level} {COUNT}"))
        assert text == engine.sql(COUNT).explain(level.lower() or "logical")
    assert str(engine.sql("EXPLAIN PHYSICAL q")).startswith("physical\n01 ProjectExec")
    with pytest.raises(CatalogError, match="there is no `bit`"):
        engine.sql("DESCRIBE bit")


def test_explain_analyze_tells_what_was_measured():
    engine = tm.Engine(runtime="inprocess")
    engine.stream("bid", BIDS, time="at")
    measured = str(engine.sql(f"EXPLAIN ANALYZE {COUNT}"))
    assert "measured" in measured
    assert "measured" not in str(engine.sql(f"EXPLAIN COST {COUNT}"))


def _with_one() -> tm.Engine:
    engine = tm.Engine(runtime="inprocess")
    engine.relation("one", [{"x": 1}])
    return engine


ODD = 'it\'s \\ \n "x"; DROP STREAM bid --'


@pytest.mark.parametrize(
    ("value", "type"),
    [
        (7, "INT"),
        (-(2**40), "BIGINT"),
        (True, "BOOLEAN"),
        (ODD, "STRING"),
        (1.5, "DOUBLE"),
        (float("-inf"), "DOUBLE"),
        (Decimal("-12.50"), "DECIMAL(4, 2)"),
        (date(2024, 2, 29), "DATE"),
        (datetime(2024, 2, 29, 1, 2, 3, 4), "TIMESTAMP"),
        ([1, None, 3], "ARRAY<INT>"),
    ],
)
def test_a_parameter_is_a_value_of_its_type(value, type):
    engine = _with_one()
    query = engine.sql("SELECT :v AS v, ? AS w FROM one", value, v=value)
    assert query.snapshot(0).to_pylist() == [{"v": value, "w": value}]
    engine.sql("CREATE QUERY q AS SELECT :v AS v FROM one", v=value)
    assert _told(engine, "DESCRIBE q") == [("v", type)]
    [(statement,)] = _told(engine, "SHOW CREATE q")  # what a restart reads
    again = _with_one()
    again.sql(statement)
    assert again.queries.find("q").snapshot(0).to_pylist() == [{"v": value}]


def test_parameters_stand_wherever_a_value_does():
    engine = tm.Engine(runtime="inprocess")
    engine.stream("bid", BIDS, time="at")
    sql = "SELECT item FROM bid WINDOW(RANGE 30) WHERE price > :least ORDER BY item LIMIT :n"
    assert engine.sql(sql, least=2, n=2).snapshot(20).to_pylist() == [{"item": "a"}, {"item": "b"}]


def test_show_create_gives_the_newest_definition(engine, tmp_path):
    engine.sql(f"CREATE QUERY q AS {COUNT}; ALTER QUERY q AS SELECT item, 1 AS n FROM bid")
    engine.sql(f"CREATE QUERY r AS INSERT INTO csv(path => '{tmp_path}/it\\'s') {COUNT}")
    engine.sql(f"ALTER QUERY r AS {COUNT}; CREATE OR REPLACE QUERY q AS SELECT item FROM bid")
    for name in "qr":
        [(made,)] = _told(engine, f"SHOW CREATE {name}")
        before = engine.queries.find(name)
        engine.sql(f"DROP QUERY {name}; {made}")
        after = engine.queries.find(name)
        assert before.planned.plan == after.planned.plan
        assert (before.sink.options, before.sink.form) == (after.sink.options, after.sink.form)


def test_what_a_query_reads_is_no_other_thing_later(engine):
    engine.sql(f"CREATE QUERY q AS {COUNT}")
    for sql in (STREAM.replace("bid", "q"), "CREATE RELATION Q (a INT) CHANGING"):
        with pytest.raises(CatalogError, match="query `q` already exists"):
            engine.sql(sql)
    with pytest.raises(CatalogError, match="query `q` already exists"):
        engine.stream("q", BIDS, time="at")


@pytest.mark.parametrize(
    "select",
    [
        "SELECT price -:x AS a FROM bid",
        "SELECT -:x AS a, price\nFROM bid",
        "SELECT:x AS a FROM bid WHERE price BETWEEN:x AND:y AND:z",
        "SELECT : /* of */ x :: STRING AS a, ':x' AS b FROM bid -- :x",
        "SELECT price - :x, price + : y FROM bid",
    ],
)
def test_what_is_kept_of_a_statement_with_parameters_means_the_same(select):
    values = {"x": -3, "y": 7, "z": True}
    named = {name: value for name, value in values.items() if f":{name}" in select.replace(" ", "")}
    (given,) = parse(f"CREATE VIEW v AS {select}", Parameters(named))
    (kept,) = parse(given.sql)
    texts = [each.tree.sql(Tidemill, comments=False) for each in (given, kept)]
    assert texts[0].replace("(-3)", "-3") == texts[1].replace("(-3)", "-3")
    assert parse(kept.query_sql)


def test_parameters_without_a_value_and_values_without_a_parameter_are_refused(engine):
    with pytest.raises(SqlSyntaxError, match="no value for the parameter `:least`") as caught:
        engine.sql("SELECT item FROM bid WHERE price > :least")
    assert (caught.value.line, caught.value.column, caught.value.length) == (1, 36, 6)
    with pytest.raises(SqlSyntaxError, match="number 2"):
        engine.sql("SELECT ? AS a, ? AS b FROM bid", 1)
    with pytest.raises(SqlSyntaxError, match="no parameter `:leest`") as caught:
        engine.sql("SELECT item FROM bid WHERE price > :least", least=1, leest=2)
    assert caught.value.help == "did you mean `:least`?"
    with pytest.raises(SqlSyntaxError, match="2 values are given by place, for 1"):
        engine.sql("SELECT ? AS a", 1, 2)
    with pytest.raises(SqlSyntaxError, match="a parameter cannot be"):
        engine.sql("SELECT ? AS a", object())
