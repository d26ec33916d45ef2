"""SQL in, plan after one rule out; `pytest tests/optimize --update` rewrites what is expected."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.analyze.fixtures import Fixture, all_fixtures, load, save
from tests.optimize.fixtures import BY_NAME, FOLDER, outcome

CASES = all_fixtures(FOLDER)


@pytest.fixture(scope="module")
def update(request: pytest.FixtureRequest) -> bool:
    wanted = bool(request.config.getoption("--update", default=False))
    if wanted:
        for path in FOLDER.glob("*.txt"):
            save(path, (replace(f, expected=outcome(f)) for f in load(path)))
    return wanted


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.file}: {case.title}")
def test_plan(case: Fixture, update: bool) -> None:
    if not update:
        assert outcome(case) == case.expected


@pytest.mark.parametrize("name", BY_NAME)
def test_a_fixture_shows_where_the_rule_applies_and_where_not(name: str) -> None:
    expected = {case.expected == "unchanged" for case in CASES if case.file == f"{name}.txt"}
    assert expected == {True, False}
