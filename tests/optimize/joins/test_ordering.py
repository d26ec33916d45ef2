"""Choosing the order of joins, on random streams."""

import time
from collections.abc import Sequence
from itertools import pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.multijoin import (
    LoopWindow,
    choose_order,
    drift,
    general_costs,
    join_size,
    moved,
    multiway_costs,
    naive_costs,
    origin_cost,
    reorder,
    total,
)
from experiments.multijoin.steps import MultiwaySteps, NaiveSteps, OriginSteps
from experiments.multijoin.windows import PROBE
from tidemill.optimize.joins.heuristic import fast_moved, small_first
from tidemill.optimize.joins.optimum import EXACT_STREAMS, optimum

TAUS = st.none() | st.floats(0.1, 100)


def windows(least: int, most: int) -> st.SearchStrategy[list[LoopWindow]]:
    one = st.tuples(
        st.sampled_from([0, 0.1, 1, 3, 10, 100]),
        st.floats(0.5, 500),
        st.sampled_from([1, 2, 5, 20, 50, 200, 500]),
        st.sampled_from([1, 5, 20, None]),
    )
    lists = st.lists(one, min_size=least, max_size=most)
    return lists.map(lambda many: [LoopWindow(f"s{i}", *parts) for i, parts in enumerate(many)])


def arranged(streams: Sequence[LoopWindow], order: Sequence[int]) -> list[LoopWindow]:
    return [streams[place] for place in order]


def about(number: float) -> object:
    return pytest.approx(number, rel=1e-9)


@settings(deadline=None)
@given(windows(2, 5), TAUS)
def test_optimum_is_the_least_of_all_orders(streams: list[LoopWindow], tau: float | None) -> None:
    for steps, costs in [
        (MultiwaySteps(streams, tau), multiway_costs),
        (NaiveSteps(streams, tau), naive_costs),
    ]:
        best = min(total(costs(order, tau)) for order in permutations(streams))
        assert total(costs(arranged(streams, optimum(steps)), tau)) == about(best)


@settings(deadline=None)
@given(windows(2, 5), TAUS)
def test_optimum_of_each_origin(streams: list[LoopWindow], tau: float | None) -> None:
    for place, origin in enumerate(streams):
        best = min(origin_cost(origin.name, order, tau) for order in permutations(streams))
        order = arranged(streams, optimum(OriginSteps(streams, place, tau)))
        assert origin_cost(origin.name, order, tau) == about(best)


@settings(deadline=None)
@given(windows(2, 7), TAUS)
def test_heuristic_gives_an_order_and_moving_never_costs(
    streams: list[LoopWindow], tau: float | None
) -> None:
    steps = MultiwaySteps(streams, tau)
    plain = small_first(steps)
    better = fast_moved(steps, plain)
    assert sorted(plain) == sorted(better) == list(range(len(streams)))
    costs = [
        total(multiway_costs(arranged(streams, order), tau))
        for order in (optimum(steps), better, plain)
    ]
    assert all(less <= more * (1 + 1e-9) for less, more in pairwise(costs))


@settings(deadline=None)
@given(windows(2, 6), st.floats(0.1, 100))
def test_orders_by_origin_are_never_dearer_than_new_rows_first(
    streams: list[LoopWindow], tau: float
) -> None:
    choice = choose_order(streams, tau)
    by_name = {window.name: window for window in streams}
    loops = {origin: [by_name[name] for name in order] for origin, order in choice.orders.items()}
    assert total(general_costs(loops, tau)) == about(choice.cost)
    lazy = [by_name[name] for name in choice.order]
    assert choice.cost <= total(multiway_costs(lazy, tau)) * (1 + 1e-9)
    assert choice.cost <= choice.heuristic * (1 + 1e-9)


def test_new_rows_go_to_the_top_if_it_costs_the_same() -> None:
    streams = [LoopWindow(name, 1, 100, 50) for name in "abcd"]
    for origin, order in choose_order(streams, tau=5).orders.items():
        assert order[0] == origin


@settings(max_examples=10, deadline=None)
@given(windows(EXACT_STREAMS + 1, 20))
def test_many_streams_are_ordered_by_the_heuristic_alone(streams: list[LoopWindow]) -> None:
    choice = choose_order(streams)
    assert choice.optimum is None
    assert choice.ratio is None
    assert sorted(choice.order) == sorted(window.name for window in streams)
    assert choice.cost == choice.heuristic


def test_fast_streams_are_moved_among_many() -> None:
    slow = [LoopWindow(f"slow{i}", 1, 100, 50 + i) for i in range(13)]
    fast = [LoopWindow("fast", 100, 100, 500), LoopWindow("faster", 200, 100, 1000)]
    steps = MultiwaySteps([*slow, *fast])
    plain, better = small_first(steps), fast_moved(steps, small_first(steps))
    assert total(multiway_costs(arranged(steps.windows, better))) < 0.8 * total(
        multiway_costs(arranged(steps.windows, plain))
    )


@pytest.mark.parametrize("count", [2, 6, 10, 30])
def test_equal_streams_keep_the_order_they_came_in(count: int) -> None:
    streams = [LoopWindow(f"s{i:02}", 1, 100, 50) for i in range(count)]
    assert list(choose_order(streams).order) == [window.name for window in streams]


@pytest.mark.parametrize("buckets", [1, None])
@pytest.mark.parametrize("tau", [None, 5])
def test_planning_ten_streams_takes_milliseconds(tau: float | None, buckets: int | None) -> None:
    streams = [
        LoopWindow(f"s{i}", 1 + i**2 % 7, 50 + 13 * i, 10 + 29 * i, buckets) for i in range(10)
    ]
    choose_order(streams, tau)
    times = []
    for _ in range(5):
        start = time.process_time()
        choose_order(streams, tau)
        times.append(time.process_time() - start)
    # Some 30 ms at worst; the bound leaves room for a busy machine.
    assert min(times) < 0.1


def test_more_buckets_than_values_are_of_no_use() -> None:
    other = LoopWindow("other", 1, 100, 50)
    costs = [
        total(multiway_costs([other, LoopWindow("few", 1, 100, 5, buckets)]))
        for buckets in (5, 500)
    ]
    assert costs[0] == costs[1]


def test_index_by_value_costs_what_matches() -> None:
    """Of n windows with an index by value, an order costs its intermediate results."""
    streams = [LoopWindow(f"s{i}", 1 + i, 100, 50 + 10 * i, None) for i in range(4)]
    for order in permutations(streams):
        a, b, c = order[:3]
        found = [join_size(part) for part in ([a], [a, b], [a, b, c])]
        expected = sum(found) * PROBE + sum(found[1:]) + join_size(order)
        assert origin_cost(a.name, order) == about(expected / a.window)


def test_rates_that_move_make_another_order_worthwhile() -> None:
    def streams(fast: float) -> list[LoopWindow]:
        return [
            LoopWindow("a", fast, 100, 200),
            LoopWindow("b", 1, 100, 200),
            LoopWindow("c", 1, 100, 20),
            LoopWindow("d", 3, 100, 2),
        ]

    planned = streams(1)
    orders = choose_order(planned).orders
    assert moved(planned, streams(1.4)) == ()
    assert reorder(orders, planned, streams(1.4)) is None
    assert moved(planned, streams(100)) == ("a",)
    found = drift(orders, streams(100))
    assert found.ratio > 1.2
    assert reorder(orders, planned, streams(100)) == found.choice
    assert found.choice.order == ("b", "a", "c", "d")


def test_rates_that_move_together_change_no_order() -> None:
    planned = [LoopWindow(name, rate, 100, 50) for name, rate in zip("abc", (1, 2, 3), strict=True)]
    faster = [LoopWindow(w.name, w.rate * 10, 100, 50) for w in planned]
    assert moved(planned, faster) == ("a", "b", "c")
    assert reorder(choose_order(planned).orders, planned, faster) is None


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"rate": -1}, "rate of `s` must be at least 0"),
        ({"distinct": 0}, "distinct of `s` must be at least 1"),
        ({"buckets": 0}, "buckets of `s` must be at least 1"),
        ({"window": 0}, "window of `s` must be longer than 0"),
        ({"rate": float("nan")}, "rate of `s` must be at least 0"),
    ],
)
def test_impossible_windows(facts: dict[str, float], message: str) -> None:
    whole = {"rate": 1, "window": 100, "distinct": 50, "buckets": 1} | facts
    with pytest.raises(ValueError, match=message):
        LoopWindow("s", **whole)  # type: ignore[arg-type]


def test_impossible_joins() -> None:
    window = LoopWindow("s", 1, 100, 50)
    with pytest.raises(ValueError, match="different names"):
        choose_order([window, window])
    with pytest.raises(ValueError, match="at least two"):
        choose_order([window])
    with pytest.raises(ValueError, match="longer than 0: 0"):
        choose_order([window, LoopWindow("t", 1, 100, 50)], tau=0)
