"""Orders of many rows, which are found by compiled loops, against NumPy's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.mechanisms.hash_index import HashIndex
from tidemill.physical.mechanisms.ordering import slot_order, stable_order

ROWS = 5000
DICE = np.random.default_rng(7)

SLOTS = [1, 2, 50, ROWS, 3 * ROWS, 2**40, 2**62]
"""From dense to far apart: so many different slots there may be."""

TIMES: dict[str, Callable[[], Ints]] = {
    "in order": lambda: np.sort(DICE.integers(0, 2**50, ROWS)),
    "in a few runs": lambda: np.sort(DICE.integers(0, 99, (5, ROWS // 5))).ravel(),
    "in any order": lambda: DICE.integers(-(2**50), 2**50, ROWS),
    "mostly equal": lambda: DICE.integers(-2, 2, ROWS),
}


@pytest.mark.parametrize("highest", SLOTS)
@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)
def test_rows_are_ordered_by_slot_and_time(highest: int, times: Callable[[], Ints]) -> None:
    slots, within = DICE.integers(0, highest, ROWS), times()
    assert slot_order(slots, within).tolist() == np.lexsort((within, slots)).tolist()
    assert slot_order(slots).tolist() == np.argsort(slots, kind="stable").tolist()
    assert stable_order(within).tolist() == np.argsort(within, kind="stable").tolist()


@pytest.mark.parametrize("low", [0, 2**63 - 300, 2**64 - 600])
@pytest.mark.parametrize("count", [500, 2**64])
def test_hashes_of_64_bits_are_ordered(low: int, count: int) -> None:
    hashes = DICE.integers(low, min(low + count, 2**64), ROWS, dtype=np.uint64)
    times = DICE.integers(0, 2**50, ROWS)
    assert slot_order(hashes, times).tolist() == np.lexsort((times, hashes)).tolist()
    assert slot_order(hashes).tolist() == np.argsort(hashes, kind="stable").tolist()


def test_an_index_finds_what_is_in_it_and_nothing_else() -> None:
    index = HashIndex()
    live: set[int] = set()
    for _ in range(30):
        hashes = DICE.integers(0, ROWS, DICE.integers(0, ROWS)).astype(np.uint64)
        slots, added = index.find_or_add(hashes)
        assert (index.hashes[slots] == hashes).all()
        assert set(hashes[added].tolist()) == set(hashes.tolist()) - live
        live |= set(hashes.tolist())
        gone = np.flatnonzero(index.live & (DICE.random(len(index)) < 0.7))
        live -= set(index.hashes[gone].tolist())
        index.free(gone)
        index.compact()
        asked = np.arange(ROWS, dtype=np.uint64)
        found = index.find(asked)
        assert set(asked[found >= 0].tolist()) == live
        assert (index.hashes[found[found >= 0]] == asked[found >= 0]).all()
