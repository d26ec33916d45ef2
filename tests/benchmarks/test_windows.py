"""The queries with larger windows: nothing else changes."""

from decimal import Decimal

import pytest
from sqlglot import exp

from benchmarks.auction.windows import asked_query, scale_windows
from benchmarks.auction.worker import Request
from tidemill import Engine
from tidemill.nexmark.queries import QUERIES
from tidemill.sql import Duration, RowCount, Statement, Tidemill, parse


@pytest.mark.parametrize("name", QUERIES)
def test_windows_grow_and_nothing_else(name: str) -> None:
    script = QUERIES[name].script("nexmark")
    grown = [_without_windows(statement) for statement in parse(scale_windows(script, 100))]
    assert [tree for tree, _ in grown] == [_without_windows(each)[0] for each in parse(script)]
    before = [size for each in parse(script) for size in _without_windows(each)[1]]
    assert [size for _, sizes in grown for size in sizes] == [100 * size for size in before]
    asked = Request("run", name, "nexmark", partitions=1, window=100)
    assert asked_query(Engine(runtime="inprocess"), asked).sql


def _without_windows(statement: Statement) -> tuple[str, list[Decimal]]:
    """A statement whose windows have all the same size, and the sizes that they had."""
    tree = statement.tree.copy()
    sizes = []
    for size in list(tree.find_all(Duration, RowCount)):
        sizes.append(Decimal(size.value))  # type: ignore[attr-defined]
        size.set("this", exp.Literal.number("1"))
    return tree.sql(dialect=Tidemill, comments=False), sizes


def test_slides_and_slack_stay() -> None:
    script = (
        "CREATE STREAM s (a BIGINT, t BIGINT) SOURCE csv(path => 'WINDOW(RANGE 5)') "
        "ORDERED BY t SLACK 3;"
        "SELECT a FROM s WINDOW(RANGE MIN 2, MAX 5 SLIDE 1), s AS u WINDOW(RANGE UNBOUNDED), "
        "s AS v WINDOW(PARTITION BY a ROWS 4), s AS w WINDOW(NOW)"
    )
    assert scale_windows(script, 3) == (
        "CREATE STREAM s (a BIGINT, t BIGINT) SOURCE csv(path => 'WINDOW(RANGE 5)') "
        "ORDERED BY t SLACK 3;\n"
        "SELECT a FROM s WINDOW(RANGE MIN 6, MAX 15 SLIDE 1) CROSS JOIN s AS u "
        "WINDOW(RANGE UNBOUNDED) CROSS JOIN s AS v WINDOW(PARTITION BY a ROWS 12) CROSS JOIN "
        "s AS w WINDOW(NOW)"
    )
