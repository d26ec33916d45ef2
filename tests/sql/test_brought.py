"""Queries in the forms of other systems: each runs, or its refusal says what to write instead.

A block of `brought/*.sql` is a title, a query, `=>`, and its answer over the data of
`brought/world.py`. `pytest tests/sql/test_brought.py --update` rewrites the answers for review.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.analyze.fixtures import Fixture, load, save
from tests.docs.pages import Block, Session
from tests.sql.brought.world import engine
from tidemill.expressions.names import NAMES
from tidemill.sql.elsewhere import FUNCTIONS

FILES = sorted((Path(__file__).parent / "brought").glob("*.sql"))
CASES = [case for file in FILES for case in load(file)]


def answer(sql: str) -> str:
    """The table that a query gives, or its refusal."""
    with Session(width=200) as session:
        session.names["engine"] = engine()
        return session.run(Block("sql", sql, 0, 0, 0))


@pytest.fixture(scope="module")
def update(request: pytest.FixtureRequest) -> bool:
    wanted = bool(request.config.getoption("--update", default=False))
    for path in FILES if wanted else ():
        save(path, [replace(case, expected=answer(case.sql)) for case in load(path)])
    return wanted


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.file}: {case.title}")
def test_brought(case: Fixture, update: bool) -> None:
    if not update:
        assert answer(case.sql) == case.expected


def test_there_are_enough() -> None:
    assert len(CASES) >= 100
    assert len({(case.file, case.title) for case in CASES}) == len(CASES)


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.expected.startswith("error: ")],
    ids=lambda case: f"{case.file}: {case.title}",
)
def test_a_refusal_says_what_to_write(case: Fixture) -> None:
    assert "\nhelp: " in case.expected
    assert "in another way" not in case.expected


def test_what_is_there_needs_no_remedy() -> None:
    assert not FUNCTIONS.keys() & set(NAMES)
