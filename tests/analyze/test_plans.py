"""SQL in, plan out; `pytest tests/analyze --update` rewrites the expectations for review."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.analyze.fixtures import FOLDER, Fixture, all_fixtures, load, outcome, save


@pytest.fixture(scope="module")
def update(request: pytest.FixtureRequest) -> bool:
    wanted = bool(request.config.getoption("--update", default=False))
    if wanted:
        for path in FOLDER.glob("*.txt"):
            save(path, (replace(f, expected=outcome(f.sql)) for f in load(path)))
    return wanted


@pytest.mark.parametrize("case", all_fixtures(), ids=lambda case: f"{case.file}: {case.title}")
def test_plan(case: Fixture, update: bool) -> None:
    if not update:
        assert outcome(case.sql) == case.expected
