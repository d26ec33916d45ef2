"""Which rows are kept to get the state of operators back."""

from __future__ import annotations

import pytest

import tidemill as tm
from tests.fabrics.answers import query_of
from tidemill.stages import stage_plans, traced
from tidemill.stages.stages import ReceiveExec
from tidemill.timeline import OPEN_END

LOOKUP = "SELECT s.v, f.b FROM s WINDOW(RANGE 5) s, f WHERE s.v = f.a"
CASES = {
    LOOKUP: {"f"},
    "SELECT v FROM s WHERE EXISTS (SELECT 1 FROM f WHERE f.a = s.v)": {"f"},
    "SELECT v FROM s WHERE NOT EXISTS (SELECT 1 FROM g WHERE g.a = s.v)": {"g"},
    "SELECT DISTINCT v FROM s WINDOW(RANGE 5)": {"s"},
    "SELECT v FROM s WINDOW(ROWS 2)": {"s"},
}


@pytest.fixture
def engine() -> tm.Engine:
    engine = tm.Engine("inprocess")
    engine.stream("s", [{"v": 1, "at": 1}], time="at")
    engine.relation("f", [{"a": 1, "b": 1}])
    engine.relation("g", [{"a": 1}], changing=True)
    return engine


def names(engine: tm.Engine, sql: str, known: int) -> set[str]:
    staged = stage_plans([query_of(engine, sql).operators])
    stage = staged.stages[0]
    leaves: list[ReceiveExec] = stage.leaves
    marks = dict.fromkeys((leaf.tag for leaf in leaves), known)
    found = traced(stage, marks)
    return {
        scan
        for tag in found
        for scan in ("s", "f", "g")
        if f"SourceExec {scan} " in str(staged.exchange(tag).producer)
    }


@pytest.mark.parametrize("sql", CASES)
def test_what_leaves_a_trace(engine: tm.Engine, sql: str) -> None:
    assert names(engine, sql, OPEN_END) == CASES[sql]


def test_rows_wait_for_a_relation_that_is_not_complete(engine: tm.Engine) -> None:
    assert names(engine, LOOKUP, 5) == {"s", "f"}
