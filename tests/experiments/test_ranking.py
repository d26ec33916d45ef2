"""The data of the experiments with rankings, and how large dominance sets are."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from experiments.ranking.evaluate import Question, evaluate, quality, rows_needed
from experiments.ranking.incomplete import Arrivals, IncompleteStreams
from experiments.ranking.lemma import dominance_sizes, expected_size
from experiments.ranking.literal import tried
from experiments.ranking.weblog import INTERVAL, WebSite, aggregated
from tests.golden.topk import cases
from tidemill.algebra.ranking import CONFIDENCE, Strategy


def once_per_stream(rows: Arrivals) -> bool:
    pairs = np.stack([rows.stream, rows.id])
    return bool(np.unique(pairs, axis=1).shape[1] == len(rows))


@pytest.mark.parametrize("turns", [True, False])
@pytest.mark.parametrize(("streams", "recent", "xi"), [(2, 30, 0.9), (3, 20, 0.5), (6, 100, 0.7)])
def test_objects_recur_among_the_last_ones(
    streams: int, recent: int, xi: float, turns: bool
) -> None:
    rows = IncompleteStreams(streams, recent, xi, turns).generate(3000, seed=2)
    assert once_per_stream(rows)
    last: list[list[int]] = [[] for _ in range(streams)]
    known = 0
    for stream, item in zip(rows.stream.tolist(), rows.id.tolist(), strict=True):
        others = {other for at, ids in enumerate(last) if at != stream for other in ids[-recent:]}
        # Who recurs at all is among the last ones: else it would be new, and its number another.
        assert item in others or all(item not in ids for ids in last)
        known += item in others
        last[stream].append(item)
    assert known / len(rows) == pytest.approx(min(xi, (streams - 1) / streams), abs=0.03)


def test_every_recent_object_has_the_same_chance() -> None:
    rows = IncompleteStreams(2, recent=10, xi=0.2, turns=False).generate(100_000, seed=3)
    numbers: list[list[int]] = [[], []]
    ages = []
    for stream, item in zip(rows.stream.tolist(), rows.id.tolist(), strict=True):
        other = numbers[1 - stream][-10:][::-1]
        if item in other:
            ages.append(other.index(item))
        numbers[stream].append(item)
    # An object that is still there at a greater age has been passed over until then.
    shares = np.bincount(ages, minlength=10) / len(ages)
    assert np.all(shares[:-1] > 0.9 * shares[1:])
    assert np.all(shares > 0.05)


def test_values_are_drawn_as_asked() -> None:
    streams = IncompleteStreams()
    assert streams.generate(10_000, seed=1).value.mean() == pytest.approx(0.5, abs=0.02)
    skewed = streams.generate(
        10_000, seed=1, values=lambda random, count: random.random(count) ** 3
    )
    assert skewed.value.mean() == pytest.approx(0.25, abs=0.02)


def test_requests_are_aggregated_by_client_server_and_interval() -> None:
    log = pl.DataFrame(
        {
            "ms": [0, 1, INTERVAL - 1, INTERVAL, INTERVAL + 1],
            "client": [7, 8, 7, 7, 7],
            "server": [0, 0, 0, 0, 1],
            "bytes": [1.0, 2.0, 3.0, 1.0, 2.0],
        }
    )
    rows = aggregated(log, 4.0)
    assert rows.stream.tolist() == [0, 0, 0, 1]
    assert rows.value.tolist() == [0.5, 1.0, 0.25, 0.5]
    # Client 7 is another one when its stream sees it again; the other stream sees the first one.
    assert rows.id[1] == rows.id[3]
    assert len(np.unique(rows.id)) == 3


def test_a_web_log_has_its_shape() -> None:
    site = WebSite(servers=3)
    rows = site.arrivals(20_000, seed=1)
    assert once_per_stream(rows)
    assert rows.value.min() >= 0
    assert rows.value.max() <= 1
    assert np.median(rows.value) < 0.1 < 0.5 < np.quantile(rows.value, 0.99)
    log = site.requests(3600, seed=1)
    requests = log["client"].value_counts(sort=True)["count"]
    assert requests.head(requests.len() // 100).sum() / log.height > 0.2
    assert log.height / 3600 / 3 == pytest.approx(site.rate, rel=0.3)


@pytest.mark.parametrize(("count", "interval"), [(1, 0.0), (100, 0.0), (100, 0.2), (1000, 0.05)])
def test_dominance_sets_are_as_large_as_expected(count: int, interval: float) -> None:
    sizes = dominance_sizes(count, interval, repetitions=400, seed=1)
    error = sizes.std() / 20
    assert abs(sizes.mean() - expected_size(count, interval)) <= 4 * error + 1e-9


@pytest.mark.parametrize(("strategy", "confidence"), [("EAA", None), ("APPROXIMATE", CONFIDENCE)])
def test_the_literal_algorithm_keeps_what_the_operator_keeps(
    strategy: str, confidence: float | None
) -> None:
    question = Question(streams=3, window=60, limit=4)
    rows = IncompleteStreams(3, recent=10, xi=0.5).generate(rows_needed(60), seed=4)
    literal, measured = (
        tried(rows, question, confidence),
        evaluate(rows, question, Strategy[strategy]),
    )
    # What fills the window is pruned at once by the operator, row by row by the literal algorithm.
    assert measured.size == pytest.approx(literal.instances, rel=0.01)
    assert measured.precision == pytest.approx(literal.precision, abs=0.01)
    assert measured.error == pytest.approx(literal.error, abs=0.01)
    if confidence is None:
        assert (measured.size, measured.precision) == (literal.instances, 1)


def test_precision_and_error_are_those_of_the_text() -> None:
    case = cases()["precision_and_error"]
    expected = (case["expected"]["precision"], case["expected"]["error"])
    assert quality(case["inputs"]["exact"], case["inputs"]["returned"]) == pytest.approx(expected)


@pytest.mark.parametrize("point", cases()["lemma_1_expected_size"]["expected"]["points"], ids=str)
def test_expected_sizes_are_the_golden_ones(point: dict[str, float]) -> None:
    size = expected_size(int(point["n"]), point["eps"])
    assert size == pytest.approx(point["expected"], rel=1e-6)
