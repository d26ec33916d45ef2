"""Queries that differ only in constants run as one plan, and answer as each would alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.fabrics.ground import Ground
from tidemill import Engine, Query
from tidemill.algebra.nodes import Scan
from tidemill.engine.started import StartedQuery
from tidemill.graph.shapes.lifting import shape_of
from tidemill.graph.shapes.shapes import FEWEST
from tidemill.physical.operators.pick import PickExec

ROW = pa.schema({"item": pa.int64(), "kind": pa.string(), "price": pa.int64(), "at": pa.int64()})
ROWS = [
    {"item": n % 4, "kind": "ab"[n % 2], "price": (7 * n) % 11, "at": n // 2} for n in range(40)
]
SHAPES = [
    "SELECT item, price FROM bid WHERE price > {0} AND item = {1}",
    "SELECT kind, COUNT(*) AS n FROM bid WINDOW(RANGE 5) WHERE item = {1} GROUP BY kind",
    "SELECT SUM(price) AS s FROM bid WINDOW(RANGE 5) WHERE price BETWEEN {1} AND {0}",
    "SELECT DISTINCT item FROM bid WINDOW(RANGE 3) WHERE kind = 'a' AND price < {0}",
    "SELECT item, MAX(price) AS m FROM bid WINDOW(RANGE 4 SLIDE 2) WHERE price <> {0} "
    "GROUP BY item HAVING COUNT(*) > {1}",
    "SELECT b.item, c.price FROM bid WINDOW(RANGE 4) b JOIN bid WINDOW(RANGE 2) c "
    "ON b.item = c.item WHERE b.price >= {0}",
]


def engine_of(engine: Engine, checkpoint: Path | None = None, fewest: int = 1) -> Engine:
    engine.stream("bid", ROW, time="at", slack=1)
    graph = engine.run(checkpoint=None if checkpoint is None else str(checkpoint), every=None)
    assert graph.shapes is not None
    graph.shapes.fewest = fewest
    return engine


def start(engine: Engine, text: str, name: str) -> StartedQuery:
    query = engine.sql(text)
    assert isinstance(query, Query)
    return query.start("memory", name=name)


def start_all(engine: Engine, numbers: Iterable[int]) -> dict[str, StartedQuery]:
    found = {}
    with engine.graph.together():
        for number in numbers:
            for at, shape in enumerate(SHAPES):
                name = f"q{at}_{number}"
                found[name] = start(engine, shape.format(number, number % 4), name)
    return found


def feed(engine: Engine, rows: list[dict[str, Any]]) -> None:
    engine.push("bid", rows)
    engine.graph.tick()


def answers(queries: dict[str, StartedQuery]) -> dict[str, list[str]]:
    return {name: sorted(map(str, q.results().to_pylist())) for name, q in queries.items()}


def is_shared(query: StartedQuery) -> bool:
    return any(isinstance(node, PickExec) for node in query.plan.walk())


def lived(engine: Engine) -> dict[str, StartedQuery]:
    """Queries come and go between ticks."""
    queries = start_all(engine, range(3))
    feed(engine, ROWS[:10])
    queries |= start_all(engine, range(3, 7))
    feed(engine, ROWS[10:22])
    for number in (1, 4):
        for at in range(len(SHAPES)):
            queries[f"q{at}_{number}"].stop()
    queries |= start_all(engine, [9])
    feed(engine, ROWS[22:])
    return queries


def test_each_answers_as_if_it_had_a_plan_of_its_own(fabric: Ground) -> None:
    engines = [engine_of(fabric.engine(), fewest=fewest) for fewest in (1, 1_000)]
    together, alone = map(lived, engines)
    assert all(map(is_shared, together.values()))
    assert not any(map(is_shared, alone.values()))
    assert answers(together) == answers(alone)
    first, second = ([q.complete_from for q in each.values()] for each in (together, alone))
    assert first == second
    for engine in engines:
        engine.graph.stop()


def test_the_constants_are_those_of_the_queries_that_run() -> None:
    engine = engine_of(Engine(runtime="inprocess"))
    assert engine.graph.shapes is not None
    first, second = (start(engine, SHAPES[1].format(0, n), f"q{n}") for n in range(2))
    same = start(engine, SHAPES[1].format(0, 1), "same")
    assert list(engine.graph.shapes.counts.values()) == [2]
    feed(engine, ROWS[:10])
    parts = len(engine.graph.operators)
    second.stop()
    assert list(engine.graph.shapes.counts.values()) == [2]
    same.stop()
    assert list(engine.graph.shapes.counts.values()) == [1]
    feed(engine, ROWS[10:20])
    assert len(engine.graph.operators) == parts - 1
    first.stop()
    assert not engine.graph.shapes.counts


def test_the_first_queries_of_a_shape_have_plans_of_their_own() -> None:
    engine = engine_of(Engine(runtime="inprocess"), fewest=FEWEST)
    queries = [start(engine, SHAPES[0].format(n, n), f"q{n}") for n in range(FEWEST + 2)]
    assert [is_shared(query) for query in queries] == [False] * (FEWEST - 1) + [True] * 3


def test_a_restart_goes_on_with_the_constants(tmp_path: Path, fabric: Ground) -> None:
    engine = engine_of(fabric.engine(), tmp_path)
    start_all(engine, range(3))
    feed(engine, ROWS[:16])
    engine.graph.stop()
    again = engine_of(fabric.engine(), tmp_path, fewest=1_000)
    queries = start_all(again, range(3))
    assert all(map(is_shared, queries.values()))
    feed(again, ROWS[16:])
    late = answers(queries)
    again.graph.stop()
    alone = engine_of(Engine(runtime="inprocess"), fewest=1_000)
    expected = start_all(alone, range(3))
    feed(alone, ROWS[:16])
    before = answers(expected)
    feed(alone, ROWS[16:])
    for name, rows in answers(expected).items():
        assert sorted([*before[name], *late[name]]) == rows, name


def test_a_query_of_a_shape_can_be_altered() -> None:
    engine = engine_of(Engine(runtime="inprocess"))
    queries = [start(engine, SHAPES[1].format(0, n), f"q{n}") for n in range(2)]
    feed(engine, ROWS[:10])
    migration = queries[0].migrate(SHAPES[1].format(0, 3))
    feed(engine, ROWS[10:])
    rows = queries[0].results().to_pylist()
    alone = engine_of(Engine(runtime="inprocess"), fewest=1_000)
    old, new = (start(alone, SHAPES[1].format(0, n), f"q{n}") for n in (0, 3))
    feed(alone, ROWS)
    for at in range(14):
        asked = old if at < migration.split else new
        assert _counts(rows, at) == _counts(asked.results().to_pylist(), at), at


def _counts(rows: list[dict[str, Any]], at: int) -> list[tuple[str, int]]:
    holding = (row for row in rows if row["valid_from"] <= at < (row["valid_to"] or at + 1))
    return sorted((row["kind"], row["n"]) for row in holding)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT item, price FROM bid",
        "SELECT item FROM bid WINDOW(ROWS 5) WHERE price > 3",
        "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY item HAVING COUNT(*) > 3",
        "SELECT item, 10 / price AS x FROM bid WHERE price > 3",
        "SELECT item FROM bid WINDOW(RANGE UNBOUNDED) WHERE price > 3",
        "SELECT item FROM bid WHERE price > item",
    ],
)
def test_others_have_plans_of_their_own(text: str) -> None:
    """Without constants next to a stream, or where rows of one could harm others."""
    engine = engine_of(Engine(runtime="inprocess"))
    assert not is_shared(start(engine, text, "q"))


def test_a_shape_has_parameters_in_the_places_of_constants() -> None:
    engine = engine_of(Engine(runtime="inprocess"))
    plans = [engine.sql(SHAPES[0].format(n, 2)).plan.choice.logical for n in (1, 8)]
    one, other = (shape_of(plan) for plan in plans)
    assert one is not None
    assert other is not None
    assert one.plan == other.plan
    assert sorted(one.constants) == [1, 2]
    assert sorted(other.constants) == [2, 8]
    assert [node.source for node in one.plan.walk() if isinstance(node, Scan)] == [
        "bid",
        one.relation,
    ]


def test_a_constant_that_guards_is_not_shared() -> None:
    engine = engine_of(Engine(runtime="inprocess"))
    guarded = (
        "SELECT item FROM bid WHERE item >= {0} AND CASE WHEN price > {1} THEN 9 / price > 1 END"
    )
    first = start(engine, guarded.format(0, 0), "first")
    other = start(engine, guarded.format(1, 0), "other")
    wrong = start(engine, guarded.format(0, -1), "wrong")
    feed(engine, [{"item": n % 2, "kind": "a", "price": n, "at": n} for n in range(6)])
    feed(engine, [{"item": 0, "kind": "a", "price": 1, "at": 99}])
    assert [query.state for query in (first, other, wrong)] == ["running", "running", "failed"]
    assert [row["item"] for row in first.results().to_pylist()] == [1, 0, 1, 0, 1, 0]


def test_there_is_one_zero() -> None:
    texts = [
        f"SELECT at FROM bid WHERE price * 1.0 > 1 AND share <= {zero}" for zero in ("0.0", "-0.0")
    ]
    engine = Engine(runtime="inprocess")
    engine.stream(
        "bid", pa.schema({"price": pa.int64(), "share": pa.float64(), "at": pa.int64()}), "at"
    )
    plans = [shape_of(engine.sql(text).plan.optimized.plan) for text in texts]
    assert plans[0] is not None
    assert repr(plans[0].constants) == repr(plans[1].constants)


def test_queries_without_rows_rest_and_one_that_fails_is_alone() -> None:
    engine = engine_of(Engine(runtime="inprocess"))
    got: dict[int, list[int]] = {}

    def take(number: int, table: pa.Table) -> None:
        if number == 2:
            raise ValueError("no room")
        got.setdefault(number, []).append(table.num_rows)

    runs = []
    with engine.graph.together():
        for number in range(4):
            query = engine.sql(f"SELECT price FROM bid WHERE item = {number}")
            runs.append(
                query.start(lambda table, tick, n=number: take(n, table), name=f"q{number}")
            )
    feed(engine, [{"item": n, "kind": "a", "price": 7, "at": 1} for n in (0, 1, 1, 2)])
    assert got == {0: [1], 1: [2]}
    assert [run.state for run in runs] == ["running", "running", "failed", "running"]
    feed(engine, [{"item": 0, "kind": "a", "price": 7, "at": at} for at in (3, 9)])
    assert got == {0: [1, 2], 1: [2]}
    assert [run.progress.rows_out for run in runs] == [3, 2, 1, 0]
    nodes = engine.graph.operators
    marks = {nodes[run.plan].watermark for run in runs if run.is_active}
    assert marks == {8}
