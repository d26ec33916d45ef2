"""The same random cases through Hypothesis, which makes a failing one small."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from tests.random.cases import CASES

pytestmark = pytest.mark.fuzz


@pytest.mark.parametrize("kind", CASES)
@settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(random=st.randoms(use_true_random=False))
def test_random_cases_shrink(kind: str, random: Random) -> None:
    case = CASES[kind](random)
    note(str(case))
    case.check()
