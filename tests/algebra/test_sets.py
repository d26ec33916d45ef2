"""What set operations say of themselves, held against their definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from tidemill.algebra.sets import SetOperation, Sides, Union
from tidemill.physical.operators.counting import counting
from tidemill.reference.sets import DEFINITIONS

KINDS = SetOperation.__subclasses__()
COUNTS = list(product(range(6), repeat=2))

Copies = Callable[[int, int], int]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def kind(request: pytest.FixtureRequest) -> type[SetOperation]:
    return request.param


@pytest.fixture
def copies(kind: type[SetOperation]) -> Copies:
    define = DEFINITIONS[kind]
    return lambda a, b: define(+Counter({"row": a}), +Counter({"row": b}))["row"]


def test_which_side_must_have_a_row(kind: type[SetOperation], copies: Copies) -> None:
    alone = any(copies(a, 0) for a in range(6)), any(copies(0, b) for b in range(6))
    expected = {Sides.EITHER: (True, True), Sides.LEFT: (True, False), Sides.BOTH: (False, False)}
    assert alone == expected[kind.facts.sides]


def test_whether_copies_add_up(kind: type[SetOperation], copies: Copies) -> None:
    most = {
        Sides.EITHER: max,
        Sides.BOTH: min,
        Sides.LEFT: lambda left, _: left,
    }[kind.facts.sides]
    assert kind.facts.adds_copies == any(copies(a, b) > most(a, b) for a, b in COUNTS)


def test_whether_rows_are_dropped(kind: type[SetOperation], copies: Copies) -> None:
    dropped = any(copies(a, b) == 0 for a, b in COUNTS if a or b)
    assert kind.facts.drops_rows == dropped


def test_whether_rows_of_one_side_stay(kind: type[SetOperation], copies: Copies) -> None:
    left = all(copies(a, 0) == a for a in range(6))
    right = all(copies(0, b) == b for b in range(6))
    both = left and right if kind.facts.sides is Sides.EITHER else left
    assert kind.facts.keeps_alone == both


def test_whether_results_grow_with_a_side(kind: type[SetOperation], copies: Copies) -> None:
    left = all(copies(a + 1, b) >= copies(a, b) for a, b in COUNTS)
    right = all(copies(a, b + 1) >= copies(a, b) for a, b in COUNTS)
    assert kind.facts.grows_with == (left, right)


def test_operators_count_like_the_definition(kind: type[SetOperation], copies: Copies) -> None:
    if kind is Union:
        return  # it passes rows on, and counts nothing
    left, right = np.array(COUNTS).T
    assert counting(kind).copies(left, right).tolist() == [copies(a, b) for a, b in COUNTS]
