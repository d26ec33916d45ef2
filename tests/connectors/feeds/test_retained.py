from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tidemill.connectors.feeds import Retained

TICKS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20)), max_size=15)


def test_nothing_is_kept_without_a_retention() -> None:
    kept = Retained(None)
    kept.took(0, 3, 0, 10)
    assert (kept.still(10), kept.forgotten_until, kept.first) == ([], 11, None)


def test_what_is_too_old_is_forgotten() -> None:
    kept = Retained(5)
    assert (kept.still(100), kept.forgotten_until) == ([], 0)
    kept.took(0, 1, 0, 3)
    kept.took(1, 2, 3, 9)
    kept.took(2, 2, 9, 9)
    assert kept.still(8) == [(0, 1, 0), (1, 2, 3), (2, 2, 9)]
    assert kept.forgotten_until == 0
    assert kept.still(9) == [(1, 2, 3), (2, 2, 9)]
    assert (kept.forgotten_until, kept.first) == (4, 1)
    assert kept.still(8) == [(1, 2, 3), (2, 2, 9)], "what is gone does not come back"


def test_no_gaps() -> None:
    kept = Retained(5)
    kept.took(0, 1, 0, 20)
    kept.took(1, 2, 3, 4)  # with much slack, old rows may come late
    kept.took(2, 3, 3, 21)
    assert kept.still(22) == [(0, 1, 0), (1, 2, 3), (2, 3, 3)]
    assert kept.still(26) == [(2, 3, 3)]
    assert kept.forgotten_until == 21


@given(TICKS, st.integers(0, 10), st.integers(0, 15))
def test_all_young_rows_are_kept(ticks: list[tuple[int, int]], retain: int, restart: int) -> None:
    """After any restart: what is not kept is before `forgotten_until`, and old enough to be."""
    kept, at, mark, all_taken = Retained(retain), 0, 0, []
    for number, (count, newest) in enumerate(ticks):
        kept.took(at, at + count, mark, newest)
        all_taken.append((at, at + count, mark, newest))
        at, mark = at + count, max(mark, newest)
        now = kept.still(mark)
        if number == restart:
            kept = Retained.load(retain, json.loads(json.dumps(kept.dump())))
            assert kept.still(mark) == now
        gone = all_taken[: len(all_taken) - len(now)]
        assert [each[:3] for each in all_taken[len(gone) :]] == now
        assert all(each[3] < mark - retain for each in gone)
        assert kept.forgotten_until == max((each[3] + 1 for each in gone), default=0)


def test_a_shorter_retention_after_a_restart() -> None:
    kept = Retained(10)
    kept.took(0, 1, 0, 5)
    kept.took(1, 2, 5, 12)
    state = json.loads(json.dumps(kept.dump()))
    assert Retained.load(2, state).still(12) == [(1, 2, 5)]
    none = Retained.load(None, state)
    assert (none.still(12), none.forgotten_until) == ([], 13)
