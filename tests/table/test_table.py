"""What is made in Python is planned as the SQL that means the same."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from datetime import datetime
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidemill as tm
from tests.table import cases
from tidemill.errors import TidemillError
from tidemill.sql import Tidemill, parse_one

TABLES = [
    *(*cases.WINDOWS, *cases.ROWS, *cases.JOINS),
    *(*cases.GROUPS, *cases.OVER, *cases.SETS, *cases.SUBQUERIES),
]


@pytest.fixture(scope="module")
def engine() -> Iterator[tm.Engine]:
    with tm.Engine(runtime="inprocess") as engine:
        bid = {"item": "lamp", "price": 30, "bidder": "ann", "at": 1}
        engine.stream("bid", [bid, bid | {"price": 12, "at": 2}], time="at")
        engine.stream("ask", [{"item": "lamp", "ask": 33, "at": 2}], time="at")
        engine.stream("click", [{"page": "a", "ts": datetime(2024, 3, 1)}], time="ts")
        engine.stream("odd", [{"order": 1, "unit price": 2, "at": 1}], time="at")
        engine.relation("category", [{"item": "lamp", "category": "light"}])
        engine.relation("clerk", [{"name": "eve", "begin": 0, "end": 4}], valid=("begin", "end"))
        engine.sql("CREATE VIEW lamp AS SELECT price FROM bid WHERE item = 'lamp'")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tm.PlanWarning)
            yield engine


@pytest.mark.parametrize(("make", "text"), TABLES, ids=[text for _, text in TABLES])
@pytest.mark.filterwarnings("ignore::tidemill.PlanWarning")
def test_a_table_means_what_the_sql_means(engine: tm.Engine, make: cases.Make, text: str) -> None:
    made, read = make(engine).query(), engine.sql(text)
    assert made.planned.plan == read.planned.plan, made.sql
    assert (made.planned.order, made.planned.hints) == (read.planned.order, read.planned.hints)


@pytest.mark.parametrize(("make", "text"), cases.TEXTS)
def test_a_table_says_what_the_sql_says(engine: tm.Engine, make: cases.Make, text: str) -> None:
    assert parse_one(make(engine).sql).tree == parse_one(text).tree


@pytest.mark.parametrize(("made", "text"), cases.EXPRESSIONS)
def test_an_expression_means_what_the_sql_means(
    engine: tm.Engine, made: tm.Expr, text: str
) -> None:
    table = engine.table("bid").select(x=made)
    assert table.query().planned.plan == engine.sql(f"SELECT {text} AS x FROM bid").planned.plan


@given(st.text())
def test_a_text_is_a_value_whatever_is_in_it(text: str) -> None:
    with tm.Engine(runtime="inprocess") as engine:
        engine.stream("s", [{"a": 1, "at": 1}], time="at")
        assert engine.table("s").select(x=tm.lit(text)).snapshot(1).to_pylist() == [{"x": text}]


@pytest.mark.parametrize("word", sorted(Tidemill.Tokenizer.KEYWORDS))
def test_every_word_can_be_a_name(word: str) -> None:
    with tm.Engine(runtime="inprocess") as engine:
        engine.stream(word.lower(), [{word: 1, "time of it": 1}], time="time of it")
        table = engine.table(word.lower()).alias(word).window(range=3)
        answer = table.filter(table[word] > 0).select(table[word]).snapshot(1)
        assert answer.to_pylist() == [{word: 1}]


def test_steps_leave_what_they_start_from_as_it_was(engine: tm.Engine) -> None:
    table = engine.table("bid").filter(tm.col("price") > 1)
    before = table.sql
    table.select("item").distinct()
    table.filter(tm.col("item") == "x").order_by("item").limit(1)
    table.join(engine.table("category"), "item").group_by("item").agg(tm.count())
    assert table.sql == before


def test_answers(engine: tm.Engine) -> None:
    table = engine.table("bid").window(range=4).group_by("item").agg(n=tm.count())
    assert table.columns == ("item", "n")
    assert table.snapshot(2).to_pylist() == [{"item": "lamp", "n": 2}]
    assert table.collect(coalesce=True).num_rows == 3
    assert "Aggregate" in table.explain()
    seen: list[int] = []
    run = table.start(lambda rows, tick: seen.append(rows.num_rows), available_now=True)
    assert run.await_termination(60)
    assert sum(seen) == 3
    assert repr(table) == f"QueryTable({table.sql!r})"


def test_a_running_query_is_a_table() -> None:
    with tm.Engine(runtime="inprocess") as engine:
        engine.sql("CREATE STREAM bid (item BIGINT, at BIGINT) ORDERED BY at")
        engine.run(every=None)
        engine.define("hot", engine.table("bid").window(range=9).query())
        engine.sql("START QUERY hot")
        counted = engine.table("hot").agg(n=tm.count()).start("memory", name="counted")
        engine.push("bid", [{"item": 1, "at": 3}, {"item": 1, "at": 5}, {"item": 2, "at": 30}])
        engine.graph.tick()
        assert [row["n"] for row in counted.results().to_pylist()] == [1, 2, 1]


def _refusal(make: cases.Make, engine: tm.Engine) -> str:
    with pytest.raises(TidemillError) as caught:
        make(engine).query()
    return str(caught.value)


def test_errors_show_the_sql_that_was_built(engine: tm.Engine) -> None:
    said = _refusal(lambda e: e.table("bid").filter(tm.col("prise") > 10).select("item"), engine)
    assert said == (
        "error: unknown column `prise` in stream `bid`\n"
        "  line 1, column 28\n"
        "    SELECT item FROM bid WHERE prise > 10\n"
        "                               ^^^^^\n"
        "help: did you mean `price`? columns: item, price, bidder"
    )
    assert "did you mean `bid`?" in _refusal(lambda e: e.table("bidd"), engine)


REFUSED = [
    (lambda e: e.table("bid").window(), "a window is of one kind, not of 0"),
    (lambda e: e.table("bid").window(range=5, rows=5), "a window is of one kind, not of 2"),
    (lambda e: e.table("bid").window(range="5 minuts"), "did you mean `MINUTE`?"),
    (lambda e: e.table("bid").window(range="5; DROP"), "is not a length of time"),
    (lambda e: e.table("bid").window(range=-5), "is not a length of time"),
    (lambda e: e.table("bid").window(rows=0), "0 is not a number of rows"),
    (lambda e: e.table("bid").window(rows=2).window(rows=3).granularity(), "one size, or two"),
    (lambda e: e.table("bid").window(range=5, partition_by="item"), "PARTITION BY"),
    (lambda e: e.table("bid").join(e.table("ask"), "item", "outer"), "unknown kind of join"),
    (lambda e: e.table("bid").select(), "there are no columns"),
    (lambda e: e.table("bid").filter(), "there is no condition"),
    (lambda e: e.table("bid").filter(tm.col("price") > 1 and tm.col("price") < 3), "write & for"),
    (lambda e: e.table("bid").filter(tm.col("price") == None), "write .is_null()"),  # noqa: E711
    (lambda e: e.table("bid").filter(tm.col("price") > object()), "a value cannot be"),
    (lambda e: e.table("bid").filter(tm.col("item").isin("lamp")), "expected a table"),
    (lambda e: e.table("bid").select(x=tm.col("price").cast("NUMBRE(")), "unknown type"),
    (lambda e: e.table("bid").select(tm.expr("1 FROM ask")), "expected one expression"),
    (lambda e: e.table("bid").select(tm.expr("1, 2")), "expected one expression"),
    (lambda e: e.table("bid").select(x=tm.case()), "a case without branches"),
    (lambda e: e.table(tm.values([], "a")), "there are no rows"),
    (lambda e: e.table(tm.table_expr("bid WHERE price > 1")), "expected a query or a table"),
    (lambda e: e.table("bid").select(tm.fn.uper("item")), "did you mean"),
    (lambda e: e.table("bid").hint("RAT(bid, 1)"), "unknown hint"),
    (lambda e: e.table("bid").having(tm.col("price") > 1), "HAVING"),
]


@pytest.mark.parametrize(("make", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_what_is_wrong_is_refused_with_a_remedy(
    engine: tm.Engine, make: cases.Make, words: str
) -> None:
    said = _refusal(make, engine)
    assert words in said
    assert "help: " in said or "cannot be" in said


def test_what_is_nested_too_deeply_is_refused(engine: tm.Engine) -> None:
    table = engine.table("bid")
    for _ in range(50):
        table = table.select("item").limit(3)
    assert "nested too deeply" in _refusal(lambda e: table, engine)
    long = reduce(lambda left, _: left + 1, range(600), tm.col("price"))
    assert "nested too deeply" in _refusal(lambda e: e.table("bid").select(x=long), engine)
