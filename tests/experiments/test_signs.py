"""Intervals, signs and our operators: one answer."""

import random
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from experiments.signs import intervals, signed
from experiments.signs.counted import delay, known, known_to_us
from experiments.signs.flow import Element, Plan
from experiments.signs.house import House
from experiments.signs.measure import KITS, answers, changes, run
from experiments.signs.plans import (
    DAY,
    HOUR,
    MINUTE,
    QUERIES,
    Build,
    q3,
    q3_nested,
    q4,
    q4_coalesced,
    q4_recomputed,
    q5,
    q5_join_first,
    window_of_bids,
)

# Stream S1 of the text, Table 11.2.
S1 = [("c", 1, 8), ("a", 5, 11), ("d", 6, 14), ("a", 9, 10), ("b", 12, 17)]
S2 = [("b", 1, 7), ("d", 3, 9), ("a", 4, 5), ("b", 7, 15), ("e", 10, 18)]


def house(seed: int, auctions: int = 30) -> House:
    """Few auctions within three days, many bids at once; no two auctions close at once."""
    dice = random.Random(seed)
    opened = sorted(dice.randrange(0, 2 * DAY, MINUTE) for _ in range(auctions))
    closed = [at + dice.choice((HOUR, 4 * HOUR, DAY)) + number for number, at in enumerate(opened)]
    items = range(1007, 1007 + auctions)
    sellers = [dice.randrange(3) for _ in items]
    bids = sorted(
        (dice.randrange(opened[n], closed[n]) // HOUR * HOUR + MINUTE * dice.randrange(3), n)
        for n in [dice.randrange(auctions) for _ in range(6 * auctions)]
    )
    ended = sorted((at, item) for at, item in zip(closed, items, strict=True))
    return House(
        {
            "person": [
                pa.table(
                    {
                        "id": [0, 1, 2],
                        "name": ["a", "b", "c"],
                        "ts": pa.array([0, DAY, DAY + HOUR], pa.timestamp("us")),
                    }
                )
            ],
            "open_auction": [
                pa.table(
                    {
                        "item": list(items),
                        "seller": sellers,
                        "start_price": [float(dice.randrange(5)) for _ in items],
                        "ts": pa.array(opened, pa.timestamp("us")),
                    }
                )
            ],
            "closed_auction": [
                pa.table(
                    {
                        "item": [item for _, item in ended],
                        "ts": pa.array([at for at, _ in ended], pa.timestamp("us")),
                    }
                )
            ],
            "bid": [
                pa.table(
                    {
                        "item": [items[n] for _, n in bids],
                        "price": [float(dice.randrange(5, 9)) for _ in bids],
                        "bidder": [dice.randrange(9) for _ in bids],
                        "ts": pa.array([at for at, _ in bids], pa.timestamp("us")),
                    }
                )
            ],
        }
    )


@pytest.mark.parametrize("name", QUERIES)
def test_three_ways_to_the_same_answer(name: str) -> None:
    given = house(seed=7)
    arrivals = given.arrivals()
    found = [changes(kit, answers(kit, QUERIES[name], arrivals)) for kit in KITS.values()]
    assert found[0]
    assert found[0] == found[1] == given.changes(name)


@pytest.mark.parametrize(
    ("kit", "build", "other"),
    [
        (intervals, q3, q3_nested),
        (signed, q3, q3_nested),
        (intervals, q4, q4_coalesced),
        (signed, q4, q4_recomputed),
        (intervals, q5, q5_join_first),
        (signed, q5, q5_join_first),
    ],
)
def test_plans_of_one_query_agree(kit: Any, build: Build, other: Build) -> None:
    for seed in range(5):
        arrivals = house(seed).arrivals()
        plans = [changes(kit, answers(kit, plan, arrivals)) for plan in (build, other)]
        assert plans[0] == plans[1] != Counter()


def pushed(operator: Any, *inputs: list[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """What an operator makes of streams, of which it takes the elements in the order of time."""
    plan = Plan()
    plan.link(operator)
    ports = [operator.push] if len(inputs) == 1 else [operator.left, operator.right]
    elements = [
        (element[1], port, ((element[0],), *element[1:]))
        for port, stream in zip(ports, inputs, strict=True)
        for element in stream
    ]
    for _, port, element in sorted(elements, key=lambda each: each[0]):
        port(element)
    plan.close()
    return [(*row, start, end) for row, start, end in plan.results]


def test_worked_examples_of_the_text() -> None:
    key = lambda row: row[0]  # noqa: E731
    joined = pushed(intervals.Join(key, key, lambda left, right: left), S1, S2)
    assert joined == [("d", 6, 9), ("b", 12, 15)]
    once = pushed(intervals.Distinct(), S1)
    assert once == [("c", 1, 8), ("a", 5, 11), ("d", 6, 14), ("b", 12, 17)]
    counted = pushed(intervals.Grouping(lambda row: row, key, "count"), S1)
    assert sorted(counted, key=lambda each: each[2]) == [
        ("c", 1, 1, 8),
        ("a", 1, 5, 9),
        ("d", 1, 6, 14),
        ("a", 2, 9, 10),
        ("a", 1, 10, 11),
        ("b", 1, 12, 17),
    ]


def test_signs_wait_for_the_instant_to_end() -> None:
    """The false alarm of Example 14.1: the sum would be 7 for a moment in which it is 5."""
    given: list[Element] = []
    total = signed.Grouping(lambda row: (), lambda row: row[0], "count")
    total.to(given.append)
    for element in [((7,), 3, 1), ((2,), 3, 1), ((7,), 4, -1)]:
        total.push(element)
    assert given == [((2,), 3, 1)]


def test_windows_of_signs_remember_and_those_of_intervals_do_not() -> None:
    arrivals = house(seed=1).arrivals()
    held = {name: run(kit, window_of_bids(HOUR), arrivals, 10) for name, kit in KITS.items()}
    assert max(point.held for point in held["intervals"]) == 0
    assert max(point.held for point in held["signs"]) > 5
    assert held["signs"][-1].held == 0
    assert held["signs"][-1].results == 2 * held["intervals"][-1].results


def test_rows_of_a_count_window_are_known_at_once_to_signs_alone() -> None:
    assert delay(known("signs", 100)) == 0
    assert delay(known("intervals", 100)) == pytest.approx(2.0)
    assert delay(known_to_us(100)) == pytest.approx(2.0, abs=0.05)
