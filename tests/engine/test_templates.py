"""Queries that differ from one that runs only in constants come to what they would if planned."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

from tidemill import Engine, Query, TidemillError
from tidemill.engine.started import StartedQuery
from tidemill.physical.operators.pick import PickExec

ROW = pa.schema(
    {
        "item": pa.int64(),
        "small": pa.int8(),
        "kind": pa.string(),
        "price": pa.int64(),
        "weight": pa.float64(),
        "at": pa.int64(),
    }
)
CONDITIONS = [
    "item = {n}",
    "price > {n}",
    "price > -{n}",
    "{n} <= price",
    "price BETWEEN {n} AND {n}",
    "price > {n} AND price < {n}",
    "price > {n} OR price > {n}",
    "kind = '{w}'",
    "kind LIKE '{w}%'",
    "kind = '{w}' AND kind <> '{w}'",
    "weight < {d}",
    "weight < {n}",
    "small = {n}",
    "small = -{n}",
    "item IN ({n}, {n})",
    "price + {n} > {n}",
    "price > {n} + {n}",
    "NOT item = {n}",
    "item = {n} AND {n} = {n}",
]
SHAPES = [
    "SELECT item, price FROM bid WHERE {c}",
    "SELECT item, price FROM bid WHERE {c} AND {c}",
    "SELECT item, {n} AS five FROM bid WHERE {c}",
    "SELECT COUNT(*) AS n FROM bid WINDOW(RANGE {n}) WHERE {c}",
    "SELECT kind, SUM(price) AS s FROM bid WINDOW(RANGE 5 SLIDE {n}) WHERE {c} GROUP BY kind",
    "SELECT item, MAX(price) AS m FROM bid WINDOW(RANGE 9) WHERE {c} GROUP BY item "
    "HAVING COUNT(*) > {n}",
    "SELECT DISTINCT item FROM bid WINDOW(RANGE 3) WHERE {c}",
    "SELECT b.item FROM bid b WINDOW(RANGE 4) JOIN bid c WINDOW(RANGE {n}) ON b.item = c.item "
    "WHERE b.price > {n}",
]
NUMBERS = [*range(4), *range(7, 12), 100, 127, 128, 129, 200, 70_000, 1 << 31, (1 << 31) + 1]
LARGE = [(1 << 53) - 1, 1 << 53, (1 << 53) + 1, (1 << 63) - 1, 1 << 63, 10**30]


def engine_of(templates: bool, monkeypatch: pytest.MonkeyPatch) -> Engine:
    engine = Engine(runtime="inprocess")
    engine.stream("bid", ROW, time="at")
    graph = engine.run(every=None)
    assert graph.shapes is not None
    graph.shapes.fewest = 1
    if not templates:
        monkeypatch.setattr(engine, "one_of_many", lambda text: None)
    return engine


def texts(random: Random, count: int) -> list[str]:
    """Few shapes, and each of them with many constants."""
    forms = [random.choice(SHAPES) for _ in range(2)]
    for number, form in enumerate(forms):
        while "{c}" in form:
            form = form.replace("{c}", random.choice(CONDITIONS), 1)
        forms[number] = form
    kept = [form.replace("RANGE {n}", f"RANGE {random.choice([2, 5])}") for form in forms]
    return [filled(random.choice(kept), random) for _ in range(count)]


def filled(form: str, random: Random) -> str:
    while "{" in form:
        numbers = LARGE if random.random() < 0.03 else NUMBERS
        form = form.replace("{n}", str(random.choice(numbers)), 1)
        form = form.replace("{w}", random.choice(["", "a", "b", "lamp", "7", "it''s"]), 1)
        form = form.replace("{d}", random.choice(["0.5", "1.5", "2.25", "10.0", "007.5"]), 1)
    return form


def outcome(engine: Engine, text: str, name: str) -> tuple[object, bool]:
    """What becomes of a text, and whether that was known without planning it."""
    try:
        query = engine.sql(text)
        assert isinstance(query, Query)
        run = query.start("memory", name=name)
    except TidemillError as error:
        return str(error), False
    meaning = engine.graph.members[name].meaning
    facts = (run.plan, meaning, query.schema, query.domain, query.depends_on, query.sql)
    return facts, query.shape is not None


@pytest.mark.filterwarnings("ignore::tidemill.errors.PlanWarning")
def test_what_is_known_by_the_text_is_what_planning_it_gives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert sum(known_of(Random(seed), monkeypatch) for seed in (100, 101)) > 0


def known_of(random: Random, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many of some texts were known; all of them came to what planning gives."""
    knowing, planning = (engine_of(each, monkeypatch) for each in (True, False))
    known = 0
    for number, text in enumerate(texts(random, 36)):
        (found, is_known), (wanted, _) = (
            outcome(engine, text, f"q{number}") for engine in (knowing, planning)
        )
        assert found == wanted, text
        known += is_known
    return known


def push(engine: Engine, items: list[int]) -> None:
    others = {"small": 1, "kind": "a", "price": 44, "weight": 0.5}
    engine.push("bid", [{"item": item, "at": at, **others} for at, item in enumerate(items)])


def start(engine: Engine, text: str, name: str) -> tuple[Query, StartedQuery]:
    query = engine.sql(text)
    assert isinstance(query, Query)
    return query, query.start("memory", name=name)


def test_a_query_that_is_known_answers_and_explains_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = engine_of(True, monkeypatch)
    text = "SELECT item, price FROM bid WHERE item = {} AND price > {}"
    runs = [start(engine, text.format(n + 17, 40 + n), f"q{n}") for n in range(6)]
    assert [query.shape is not None for query, _ in runs] == [False] * 2 + [True] * 4
    push(engine, [17, 18, 19, 20, 21, 22])
    engine.graph.tick()
    query, run = runs[4]
    assert run.results().num_rows == 0
    assert [row["item"] for row in runs[3][1].results().to_pylist()] == [20]
    assert "item = 21 AND bid.price > 44" in query.explain()
    assert isinstance(run.plan, PickExec)
    assert query.warnings == ()
    assert query.planned.plan.schema == query.schema
    run.migrate(text.format(7, 12))
    assert "item = 7 AND bid.price > 12" in run.definition.explain()
    run.stop()


def test_a_template_is_only_used_where_nothing_else_can_come_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = engine_of(True, monkeypatch)
    text = "SELECT item FROM bid WHERE item = {} AND price > {}"
    cases = [(5, 90, False), (6, 90, False), (7, 90, True), (7, 91, False), (9, 92, True)]
    # (Equal constants, and constants of other sizes, may mean another plan.)
    cases += [(92, 92, False), (92, 9, False), (0, 90, False), (3, 90_000, False)]
    for number, (item, price, known) in enumerate(cases):
        query, _ = start(engine, text.format(item, price), f"q{number}")
        assert (query.shape is not None) == known, (item, price)
    other, _ = start(engine, text.format(7, 95) + " -- as before", "commented")
    assert other.shape is None


def test_a_query_whose_shape_has_gone_is_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_of(True, monkeypatch)
    text = "SELECT item FROM bid WHERE item = {}"
    runs = [start(engine, text.format(n), f"q{n}")[1] for n in (5, 6)]
    known = engine.sql(text.format(7))
    assert known.shape is not None
    for run in runs:
        run.stop()
    late = known.start("memory", name="late")
    push(engine, [7])
    engine.graph.tick()
    assert late.results().num_rows == 1
