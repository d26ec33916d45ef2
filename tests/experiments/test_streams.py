"""The data of the experiments, and that our operator gives what the text's algorithms give."""

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from experiments.algorithms import Join, first_at_top, run
from experiments.measure import HASHED, NESTED_LOOP, Measurement
from experiments.multijoin import LoopWindow
from experiments.multijoin_figure4 import buckets
from experiments.streams import TABLE_5, equal_streams, generate

FILE = Path(__file__).parents[1] / "golden" / "papers" / "multijoin.json"
CASES = {case["id"]: case for case in json.loads(FILE.read_text("utf-8"))["cases"]}


def test_generator_of_the_text() -> None:
    case = CASES["tuple_generator"]
    assert [window.rate for window in TABLE_5] == case["inputs"]["rates"]
    assert [window.distinct for window in TABLE_5] == case["inputs"]["distinct"]
    data = generate(TABLE_5, units=10_000)
    shares = np.bincount(data.streams) / len(data.streams)
    assert shares == pytest.approx(case["expected"]["stream_probabilities"], rel=0.03)
    for stream, distinct in enumerate(case["inputs"]["distinct"]):
        values = data.values[data.streams == stream]
        assert set(values) == set(range(1, distinct + 1))
        assert np.bincount(values)[1:].std() < 0.2 * len(values) / distinct


def test_windows_hold_as_many_rows_as_the_cost_model_says() -> None:
    data = generate(TABLE_5, units=400)
    for stream, (window, length) in enumerate(zip(TABLE_5, data.lengths, strict=True)):
        inside = (data.streams[-length:] == stream).sum()
        assert inside == pytest.approx(window.rows(), rel=0.2)


def test_buckets_left_for_the_fast_stream() -> None:
    case = CASES["bucket_allocation"]
    asked = [buckets(each["average"], each["each_slow"]) for each in case["inputs"]["cases"]]
    assert [sizes[-1] for sizes in asked if sizes] == case["expected"]["fast_buckets"]


@pytest.mark.parametrize("sizes", [NESTED_LOOP, 3, HASHED, (1, 4, None)])
@pytest.mark.parametrize("tau", [None, 1, 5])
def test_operator_finds_as_many_results_as_the_text(
    tau: int | None, sizes: int | tuple[int | None, ...] | None
) -> None:
    windows = [LoopWindow("a", 2, 6, 5), LoopWindow("b", 1, 9, 4), LoopWindow("c", 3, 4, 6)]
    data = generate(windows, units=19)
    full = max(data.lengths)
    tick = None if tau is None else round(tau * data.turns)
    orders = [first_at_top((0, 1, 2)), *((order,) * 3 for order in permutations(range(3)))]
    for loops in orders:
        expected = run(Join(data.lengths, loops, tick), data.rows(), full=full)
        results = sum(len(each.results) for each in expected)
        assert results > 0
        found = Measurement(data, tick or 1, sizes).run(loops)
        assert (found.rows, found.results) == (len(data.streams) - full, results)


def test_streams_of_the_figures() -> None:
    assert [window.rate for window in equal_streams(4, (1, 1, 1, 50))] == [1, 1, 1, 50]
    assert len(equal_streams(7)) == 7
