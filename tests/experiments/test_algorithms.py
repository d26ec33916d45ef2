"""The algorithms that experiments count with give the worked examples of the text."""

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from experiments.algorithms import Evaluation, Join, Row, arrivals, first_at_top, run

FILE = Path(__file__).parents[1] / "golden" / "papers" / "multijoin.json"
CASES = {case["id"]: case for case in json.loads(FILE.read_text("utf-8"))["cases"]}
TIME, COUNT = CASES["run_3_streams_time_windows"], CASES["run_3_streams_count_windows"]
ORDERS = list(permutations(range(3)))


def rows_of(case: dict[str, Any]) -> list[Row]:
    return arrivals(
        (int(name[1:]) - 1, ts, value) for name, ts, value in case["inputs"]["arrivals"]
    )


def sizes_of(case: dict[str, Any], key: str = "window_length") -> tuple[int, ...]:
    return tuple(case["inputs"][key].values())


def lists(results: list[tuple[int, ...]]) -> list[list[int]]:
    return sorted(map(list, results))


def check(found: list[Evaluation], expected: list[dict[str, Any]]) -> None:
    assert [lists(each.results) for each in found] == [sorted(each["rows"]) for each in expected]
    if "now" in expected[0]:
        assert [each.now for each in found] == [each["now"] for each in expected]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("buckets", [(), (2, 1, 3)])
def test_every_eager_join_gives_the_rows_of_each_arrival(
    order: tuple[int, ...], buckets: tuple[int, ...]
) -> None:
    for orders in (first_at_top(order), (order,) * 3):
        found = run(Join(sizes_of(TIME), orders, buckets=buckets), rows_of(TIME))
        check(found, TIME["expected"]["rows_per_arrival"])


@pytest.mark.parametrize("tau", [5, 7])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("buckets", [(), (2, 1, 3)])
def test_every_lazy_join_gives_the_rows_of_each_batch(
    tau: int, order: tuple[int, ...], buckets: tuple[int, ...]
) -> None:
    general = (order, order[::-1], first_at_top(order)[2])
    for orders in (first_at_top(order), (order,) * 3, general):
        found = run(Join(sizes_of(TIME), orders, tau, buckets), rows_of(TIME))
        check(found, TIME["expected"][f"lazy_tau_{tau}"])


@pytest.mark.parametrize("names", TIME["expected"]["tuple_accesses_by_global_order"])
def test_rows_looked_at(names: str) -> None:
    expected = TIME["expected"]["tuple_accesses_by_global_order"][names]
    order = tuple(int(name[1:]) - 1 for name in names.split(","))
    multiway = run(Join(sizes_of(TIME), first_at_top(order)), rows_of(TIME))
    assert [each.accesses for each in multiway] == expected["eager_multiway_per_arrival"]
    assert sum(each.accesses for each in multiway) == expected["eager_multiway_total"]
    naive = run(Join(sizes_of(TIME), (order,) * 3), rows_of(TIME))
    assert sum(each.accesses for each in naive) == expected["naive_total"]


def test_hashing_looks_at_fewer_rows() -> None:
    accesses = [
        sum(each.accesses for each in run(Join(sizes_of(TIME), orders, buckets=b), rows_of(TIME)))
        for orders in [first_at_top((0, 1, 2))]
        for b in [(), (2, 2, 2), (3, 3, 3)]
    ]
    assert accesses == sorted(accesses, reverse=True)
    assert len(set(accesses)) == 3


def test_expiry_that_is_not_checked_adds_wrong_rows() -> None:
    join = Join(sizes_of(TIME), ((0, 1, 2),) * 3, tau=7, checked=False)
    wrong = {row for each in run(join, rows_of(TIME)) for row in each.results}
    right = {tuple(row) for each in TIME["expected"]["rows_per_arrival"] for row in each["rows"]}
    assert right < wrong
    added = TIME["expected"]["rows_wrongly_added_by_naive_lazy_tau_7"]
    assert lists(list(wrong - right)) == sorted(added)


def test_tables_2_and_3() -> None:
    case = CASES["tables_2_3"]
    rows = arrivals(
        (int(name[1:]) - 1, ts, value)
        for name, window in case["inputs"]["windows"].items()
        for ts, value in window
    )
    # Evaluated every 30, the last time at 210: the rows of the third stream are new.
    for checked, key in [(True, "correct_rows"), (False, "naive_wrong_rows")]:
        join = Join(sizes_of(case), ((0, 1, 2),) * 3, tau=30, checked=checked)
        last = run(join, rows)[-1]
        assert last.now == case["inputs"]["now"]
        assert lists(last.results) == case["expected"][key]


def test_windows_are_closed() -> None:
    case = CASES["window_bound_is_closed"]
    found = run(Join(sizes_of(case), first_at_top((0, 1))), rows_of(case))
    assert lists(found[-1].results) == case["expected"]["rows"]


@pytest.mark.parametrize("orders", [first_at_top((0, 1)), ((0, 1),) * 2, ((1, 0),) * 2])
def test_equal_timestamps_give_one_row(orders: tuple[tuple[int, ...], ...]) -> None:
    case = CASES["equal_timestamps_two_streams"]
    (found,) = run(Join(sizes_of(case), orders, case["inputs"]["tau"]), rows_of(case))
    assert found.now == case["inputs"]["now"]
    assert lists(found.results) == case["expected"]["rows"]


def test_row_at_the_time_of_an_evaluation_is_new_once() -> None:
    case = CASES["tuple_on_reexecution_instant"]
    join = Join(sizes_of(case), first_at_top((0, 1)), case["inputs"]["tau"])
    found = run(join, rows_of(case), until=case["inputs"]["executions"][-1])
    check(found, case["expected"]["rows_by_execution"])


@pytest.mark.parametrize("order", ORDERS)
def test_count_windows(order: tuple[int, ...]) -> None:
    sizes = sizes_of(COUNT, "window_count")
    for orders in (first_at_top(order), (order,) * 3):
        found = run(Join(sizes, orders, counted=True), rows_of(COUNT))
        check(found, COUNT["expected"]["rows_per_arrival"])
        for tau in (5, 7):
            lazy = run(Join(sizes, orders, tau, counted=True), rows_of(COUNT))
            results = [row for each in lazy for row in each.results]
            assert lists(results) == lists([row for each in found for row in each.results])
            assert len(results) == COUNT["expected"]["total_rows"]


def test_bound_of_a_count_window() -> None:
    case = CASES["count_window_bound"]
    newest = case["inputs"]["newest_counter"]
    rows = arrivals([*((0, ts, 1) for ts in range(1, newest + 1)), (1, newest + 1, 1)])
    join = Join((case["inputs"]["window_count"], 1), first_at_top((0, 1)), counted=True)
    inside = [ts for ts, _ in run(join, rows)[-1].results]
    assert inside == case["expected"]["counters_inside"]
