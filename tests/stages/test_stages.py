"""Stages: SQL in, stages out.

`python -m tests.stages.test_stages` rewrites the expectations for review.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import tidemill as tm
from tests.analyze.fixtures import Fixture, load
from tests.fabrics.answers import query_of
from tests.runtime.cases import staged_case
from tidemill.stages import Mode, Staged
from tidemill.stages.stages import is_native

FILE = Path(__file__).parent / "stages.txt"


def engine() -> tm.Engine:
    engine = tm.Engine(runtime="inprocess")
    engine.stream("bid", [{"item": 1, "bidder": "a", "price": 1.5, "at": 1}], time="at")
    engine.stream("sale", [{"item": 1, "amount": 2.5, "at": 1}], time="at")
    engine.relation("label", [{"item": 1, "name": "vase"}])
    engine.relation("shop", [{"item": 1, "place": "x"}, {"item": 2, "place": "y"}])
    many = pa.table({"item": np.arange(400_000), "price": np.arange(400_000)})
    engine.relation("catalogue", many)
    engine.function("twice", lambda x: 2 * x, returns="DOUBLE")
    return engine


def stages(sql: str) -> str:
    return query_of(engine(), sql).explain("stages").partition("\n")[2]


@pytest.mark.parametrize("case", load(FILE), ids=lambda case: case.title)
def test_stages(case: Fixture) -> None:
    assert stages(case.sql) == case.expected


@pytest.mark.parametrize("seed", range(0, 200, 10))
def test_stages_of_random_plans_hang_together(seed: int) -> None:
    for number in range(seed, seed + 10):
        check(staged_case("plans", number))


def check(staged: Staged) -> None:
    """Every edge is made once, below where it is used, and used where it is said to be."""
    assert [exchange.tag for exchange in staged.exchanges] == list(range(len(staged.exchanges)))
    assert [stage.level for stage in staged.stages] == list(range(1, len(staged.stages) + 1))
    made = {tag: stage.level for stage in staged.stages for tag, _ in stage.outputs}
    for exchange in staged.exchanges:
        if exchange.made_at == 0:
            assert is_native(exchange.producer)
        else:
            assert made[exchange.tag] == exchange.made_at
        assert exchange.tag in staged.results or exchange.made_at < exchange.used_at
        assert bool(exchange.keys) == (exchange.mode is Mode.HASH)
    used = [(leaf.tag, stage.level) for stage in staged.stages for leaf in stage.leaves]
    assert sorted(used) == [
        (e.tag, e.used_at) for e in staged.exchanges if e.tag not in staged.results
    ]


if __name__ == "__main__":
    fixtures = [replace(each, expected=stages(each.sql)) for each in load(FILE)]
    FILE.write_text("\n".join(map(str, fixtures)), "utf-8")


RATES = [
    pytest.param({"bid": 100.0, "sale": 1.0}, "sale", id="the slower one goes everywhere"),
    pytest.param({"bid": 1.0, "sale": 100.0}, "bid", id="whichever that is"),
    pytest.param({"bid": 1.0, "sale": 1.0}, "bid", id="at the same rate, the shorter window"),
    pytest.param({}, "bid", id="of which nothing is known, too"),
    pytest.param({"bid": 1e-9, "sale": 1e-9}, "bid", id="few rows are not one row"),
]


@pytest.mark.parametrize(("rates", "everywhere"), RATES)
def test_the_smaller_side_by_the_rates_that_are_known(
    rates: dict[str, float], everywhere: str
) -> None:
    house = engine()
    for name, rate in rates.items():
        house.hint(name, rate=rate)
    sql = "SELECT b.price FROM bid b WINDOW(RANGE 10), sale s WINDOW(RANGE 20) WHERE price < amount"
    (line,) = (
        line for line in query_of(house, sql).explain("stages").splitlines() if "broadcast" in line
    )
    window = {"bid": "range=10", "sale": "range=20"}[everywhere]
    assert line.endswith(window)


def test_joins_by_key_meet_where_the_key_belongs_however_few_rows_there_are() -> None:
    house = engine()
    house.hint("bid", rate=1e-6)
    house.hint("sale", rate=1e-6)
    sql = "SELECT b.price FROM bid b, sale s WINDOW(RANGE 20) WHERE b.item = s.item"
    stages = query_of(house, sql).explain("stages")
    assert "hash [b.item]" in stages
    assert "broadcast" not in stages


@pytest.mark.parametrize(
    ("rows", "columns", "is_sent"),
    [(240_000, "o.item", True), (260_000, "o.item", False), (240_000, "o.item, o.name", False)],
)
def test_relations_go_everywhere_by_what_is_known_of_their_size(
    rows: int, columns: str, is_sent: bool
) -> None:
    house = engine()
    house.relation("offer", [{"item": 1, "name": "vase"}], changing=True)
    house.hint("offer", rows=rows)
    sql = f"SELECT b.price, {columns} FROM bid b, offer o WHERE b.item = o.item"
    assert ("broadcast" in query_of(house, sql).explain("stages")) == is_sent
