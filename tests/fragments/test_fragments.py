"""Stages: SQL in, stages out.

`python -m tests.fragments.test_fragments` rewrites the expectations for review.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import tidemill as tm
from tests.analyze.fixtures import Fixture, load
from tests.fabrics.answers import query_of
from tests.runtime.cases import staged_case
from tidemill.fragments import Mode, Staged
from tidemill.fragments.placement import MOST_BROADCAST
from tidemill.fragments.stages import is_native

FILE = Path(__file__).parent / "fragments.txt"


def engine() -> tm.Engine:
    engine = tm.Engine(runtime="inprocess")
    engine.stream("bid", [{"item": 1, "bidder": "a", "price": 1.5, "at": 1}], time="at")
    engine.stream("sale", [{"item": 1, "amount": 2.5, "at": 1}], time="at")
    engine.relation("label", [{"item": 1, "name": "vase"}])
    engine.relation("shop", [{"item": 1, "place": "x"}, {"item": 2, "place": "y"}])
    many = pa.table({"item": range(MOST_BROADCAST + 1), "price": range(MOST_BROADCAST + 1)})
    engine.relation("catalogue", many)
    engine.function("twice", lambda x: 2 * x, returns="DOUBLE")
    return engine


def fragments(sql: str) -> str:
    return query_of(engine(), sql).explain("fragments").partition("\n")[2]


@pytest.mark.parametrize("case", load(FILE), ids=lambda case: case.title)
def test_stages(case: Fixture) -> None:
    assert fragments(case.sql) == case.expected


@pytest.mark.parametrize("seed", range(0, 200, 10))
def test_stages_of_random_plans_hang_together(seed: int) -> None:
    for number in range(seed, seed + 10):
        check(staged_case("plans", number))


def check(staged: Staged) -> None:
    """Every edge is made once, below where it is used, and used where it is said to be."""
    assert [edge.tag for edge in staged.edges] == list(range(len(staged.edges)))
    assert [stage.level for stage in staged.stages] == list(range(1, len(staged.stages) + 1))
    made = {tag: stage.level for stage in staged.stages for tag, _ in stage.outputs}
    for edge in staged.edges:
        if edge.made_at == 0:
            assert is_native(edge.producer)
        else:
            assert made[edge.tag] == edge.made_at
        assert edge.tag in staged.results or edge.made_at < edge.used_at
        assert bool(edge.keys) == (edge.mode is Mode.HASH)
    used = [(leaf.tag, stage.level) for stage in staged.stages for leaf in stage.leaves]
    assert sorted(used) == [(e.tag, e.used_at) for e in staged.edges if e.tag not in staged.results]


if __name__ == "__main__":
    fixtures = [replace(each, expected=fragments(each.sql)) for each in load(FILE)]
    FILE.write_text("\n".join(map(str, fixtures)), "utf-8")
