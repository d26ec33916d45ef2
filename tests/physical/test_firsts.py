"""The compiled first k of changing items, against keeping all of them sorted."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemill.physical.operators.topk.firsts import ABSENT, Firsts, TopKVersions

Event = tuple[int, int, int, int]  # time, item, key, tie
Version = tuple[int, int, int, int]  # item, event, since, end

KEYS = st.one_of(st.just(ABSENT), st.integers(0, 6), st.just(2**63 - 1))
EVENTS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12), KEYS, st.integers(0, 2)))


def naive(events: list[Event], limit: int, offset: int) -> Iterator[Version]:
    """The versions of all events, each of which ends when the next differs from it."""
    held: dict[int, tuple[int, int, int]] = {}  # key, tie, event
    told: dict[int, tuple[int, int]] = {}  # event, since
    for time, group in groupby(enumerate(events), lambda event: event[1][0]):
        for number, (_, item, key, tie) in group:
            held.pop(item, None)
            if key != ABSENT:
                held[item] = (-key, tie, number)
        order = sorted(held, key=lambda item: (*held[item][:2], item))
        shown = {item: held[item][2] for item in order[offset : offset + limit]}
        for item, (number, since) in list(told.items()):
            if shown.get(item) != number:
                del told[item]
                yield item, number, since, time
        for item, number in shown.items():
            told.setdefault(item, (number, time))
    for item, (number, since) in told.items():
        yield item, number, since, 100


def arrays(events: list[Event]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    times, items, keys, ties = np.array(events, np.int64).reshape(-1, 4).T.copy()
    return times, items, keys, ties


def rows(versions: TopKVersions) -> list[Version]:
    return list(zip(*(column.tolist() for column in versions), strict=True))


def swept(events: list[Event], bounds: list[int], limit: int, offset: int) -> list[Version]:
    """All versions, with events counted over all calls; those of earlier calls are looked up."""
    firsts, base, results = Firsts(limit, offset), 0, []
    last: dict[int, int] = {}  # the last event of an item in earlier calls
    for until in [*bounds, 100]:
        part = [event for event in events[base:] if event[0] < until]
        versions = rows(firsts.sweep(*arrays(part), until))
        versions = [(i, last[i] if e < 0 else e + base, s, t) for i, e, s, t in versions]
        results += versions
        last.update({event[1]: number for number, event in enumerate(part, base)})
        base += len(part)
        firsts = pickle.loads(pickle.dumps(firsts))
    return results + [(i, last[i], s, t) for i, _, s, t in rows(firsts.cut(100))]


@settings(max_examples=150)
@given(EVENTS, st.sets(st.integers(0, 31)), st.integers(0, 5), st.integers(0, 3))
def test_firsts_are_the_first_after_sorting(
    events: list[Event], bounds: set[int], limit: int, offset: int
) -> None:
    events.sort(key=lambda event: event[0])
    found = swept(events, sorted(bounds), limit, offset)
    assert sorted(found) == sorted(naive(events, limit, offset))


def test_many_items_under_few_places() -> None:
    random = np.random.default_rng(5)
    times = np.sort(random.integers(0, 90, 3000))
    keys = np.where(random.random(3000) < 0.3, ABSENT, random.integers(0, 50, 3000))
    columns = times, random.integers(0, 400, 3000), keys, random.integers(0, 2, 3000)
    events = list(zip(*(column.tolist() for column in columns), strict=True))
    found = swept(events, [30, 31, 60], 20, 0)
    assert sorted(found) == sorted(naive(events, 20, 0))


def test_a_cut_goes_on_from_there() -> None:
    firsts = Firsts(2)
    firsts.sweep(*arrays([(1, 0, 5, 0), (2, 1, 9, 0), (2, 2, 7, 0)]), 4)
    assert firsts.open_count == 2
    assert sorted(rows(firsts.cut(4))) == [(1, -1, 2, 4), (2, -1, 2, 4)]
    assert rows(firsts.cut(4)) == []
    assert rows(firsts.sweep(*arrays([(6, 1, ABSENT, 0)]), 8)) == [(1, -1, 4, 6)]
    assert sorted(rows(firsts.cut(8))) == [(0, -1, 6, 8), (2, -1, 4, 8)]


def test_events_must_not_go_back_in_time() -> None:
    firsts = Firsts(1)
    firsts.sweep(*arrays([(5, 0, 1, 0)]), 7)
    with pytest.raises(ValueError, match="after 7"):
        firsts.sweep(*arrays([(6, 0, 2, 0)]), 9)
