"""Rankings as operators, against the reference at every instant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from random import Random
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from tests.physical.ranking import Case, Row, Tick, at_once, copied, in_pieces, one_by_one, run
from tidemill.errors import ExecutionError
from tidemill.expressions import UserFunction
from tidemill.physical.mechanisms.changes import snapshot
from tidemill.testing import check_result
from tidemill.timeline import OPEN_END

FEW = [0.0, 0.25, 0.5, 0.75, 1.0, None]
STRINGS = (("id", pa.string()),)
WHOLE = (("id", pa.int64()),)
PAIRS = (("name", pa.string()), ("id", pa.float64()))


def random_key(random: Random, keys: Any) -> dict[str, Any]:
    values = {
        pa.string(): ["a", "b", "é", "", None],
        pa.int64(): [3, -7, 11, 0, 2**40, None],
        pa.float64(): [0.0, -0.0, 1.5, float("nan"), None],
    }
    return {name: random.choice(values[type]) for name, type in keys}


def random_rows(random: Random, case: Case) -> list[Row]:
    """Rows that keep the promise, some with ties, some at one instant."""
    rows: list[Row] = []
    counts: Counter[Any] = Counter()
    time = 0
    for _ in range(random.randint(1, 45)):
        time += random.choice([0, 0, 1, 1, 2, 5])
        key, stream = random_key(random, case.keys), random.randrange(case.streams)
        name = (str([0.0 if v == 0 else v for v in key.values()]), stream)
        if case.most is not None and counts[name] >= case.most:
            continue
        counts[name] += 1
        value = random.choice(FEW) if random.random() < 0.8 else random.random()
        if pa.types.is_integer(case.value) and value is not None:
            value = round(value * 4)
        rows.append((time, key | {"stream": stream, "value": value}))
    return rows


def random_case(random: Random) -> Case:
    score = random.choice(["sum", "sum", "weighted", "max", "min", "product", "count"])
    most = random.choice([1, 1, 2, 3]) if score != "max" else random.choice([1, 2, None])
    window: dict[str, int] = random.choice(
        [{"size": random.choice([1, 3, 10, 30])}, {"count": random.choice([1, 2, 5, 12])}]
    )
    case = Case((), random.choice([1, 2, 3, 6]), most=most, score=score, **window)
    case = replace(case, streams=3 if score == "weighted" else random.choice([1, 2, 3]))
    case = replace(case, keys=random.choice([STRINGS, WHOLE, PAIRS]))
    if score in ("sum", "max") and random.random() < 0.3:
        case = replace(case, value=pa.int32(), high=4.0)
    return replace(case, rows=random_rows(random, case))


def check(case: Case, ticks: Iterable[Tick], state_is_written: bool = False) -> None:
    ranking, found = case.node.operator(), []
    for tick in ticks:
        found.append(run(case, ranking, [tick]))
        ranking = copied(ranking) if state_is_written else ranking
    check_result(pa.concat_tables(part.to_arrow() for part in found), case.expected)
    if case.size is not None:
        assert ranking.state_rows == 0


@pytest.mark.parametrize("seed", range(10))
def test_random_rankings(seed: int) -> None:
    random = Random(seed)
    case = random_case(random)
    check(case, at_once(case))
    check(case, one_by_one(case), state_is_written=seed % 3 == 0)
    check(case, in_pieces(case, random, slack=random.choice([0, 4])))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_many_random_rankings(seed: int) -> None:
    for number in range(40):
        random = Random(f"{seed} {number}")
        case = random_case(random)
        for ticks in (at_once(case), one_by_one(case), in_pieces(case, random, 5)):
            check(case, ticks)


def test_sums_are_exact() -> None:
    values = [1e100, 1.0, -1e100, 2.0**-60, 0.1]
    rows = [(t, {"id": "a", "stream": 0, "value": value}) for t, value in enumerate(values)]
    case = Case(rows, 1, size=3, most=None, streams=1)
    with pytest.raises(ExecutionError, match="fell when a row came"):
        check(case, at_once(case))
    rows = [(t, {"id": "a", "stream": 0, "value": abs(value)}) for t, value in enumerate(values)]
    case = replace(case, rows=rows, most=9, high=1e100)
    check(case, one_by_one(case))


def row(time: int, id: str, stream: int, value: float) -> Row:
    return time, {"id": id, "stream": stream, "value": value}


def test_more_rows_than_promised() -> None:
    case = Case([row(1, "a", 0, 0.5), row(2, "b", 1, 0.5), row(4, "a", 0, 0.5)], 3, size=10)
    for ticks in (at_once(case), one_by_one(case)):
        with pytest.raises(ExecutionError, match=r"stream 1 .* s\.id = 'a' .* the 1 that"):
            run(case, case.node.operator(), ticks)
    run(case, replace(case, size=3).node.operator(), at_once(case))
    windowed = replace(case, most=1, in_window=True)
    with pytest.raises(ExecutionError, match="in a window"):
        run(windowed, windowed.node.operator(), one_by_one(windowed))
    check(replace(windowed, size=3), one_by_one(windowed))


def test_scores_that_fall() -> None:
    rows = [row(1, "a", 0, 0.9), row(3, "a", 1, 0.5)]
    for score, functions in (
        ("difference", ()),
        ("user", (UserFunction("score_of", lambda a, b: a - b, pa.float64()),)),
    ):
        case = Case(rows, 2, streams=2, size=9, score=score, functions=functions)
        for ticks in (at_once(case), one_by_one(case)):
            with pytest.raises(ExecutionError, match="fell when a row came"):
                run(case, case.node.operator(), ticks)


def test_a_user_function_that_is_monotone() -> None:
    function = UserFunction("score_of", lambda a, b: a + 2 * b, pa.float64())
    rows = [row(t, "abcdef"[t % 6], t % 2, t % 5 / 4) for t in range(10)]
    case = Case(rows, 2, streams=2, size=4, score="user", functions=(function,), most=9)
    check(case, at_once(case))


@pytest.mark.parametrize("limit", [1_000, 2**62])
def test_fewer_objects_than_asked_for(limit: int) -> None:
    case = Case([row(1, "a", 0, 0.5), row(2, "b", 1, 0.5), row(3, "a", 2, 0.5)], limit, size=10)
    check(case, one_by_one(case))


def test_objects_with_many_rows() -> None:
    random = Random(1)
    rows = [row(t, random.choice("aaaabbc"), t % 2, random.random()) for t in range(150)]
    case = Case(rows, 1, streams=2, size=90, most=200)
    check(case, at_once(case))
    check(case, in_pieces(case, random))


def test_forgotten_objects_take_no_room() -> None:
    """Objects that come and go are numbered anew; results are as if they were not."""
    random = Random(2)
    rows = [row(t // 4, f"o{random.randrange(t + 1)}", 0, random.random()) for t in range(12_000)]
    case = Case(rows, 3, streams=1, size=500, most=None, score="max")
    whole = run(case, case.node.operator(), at_once(case))
    ranking, found = case.node.operator(), []
    for tick in range(0, 12_000, 3_000):
        found.append(run(case, ranking, [(rows[tick : tick + 3_000], (tick + 3_000) // 4)]))
        assert ranking.state_bytes < 100_000
    found.append(run(case, ranking, [([], OPEN_END)]))
    pieces = pl.concat(found)
    for instant in range(0, 3_600, 7):
        expected = sorted(snapshot(whole, instant).iter_rows())
        assert sorted(snapshot(pieces, instant).iter_rows()) == expected


def test_what_is_told_of_the_work() -> None:
    case = Case([row(t, f"o{t}", 0, 1 - t / 10) for t in range(9)], 1, streams=1, size=5)
    ranking = case.node.operator()
    run(case, ranking, [(case.rows, 9)])
    assert ranking.measures == {
        "ranking_instances": 5,
        "ranking_rows": 5,
        "ranking_window_rows": 5,
        "ranking_evicted": 0,
    }
    run(case, ranking, [([row(9, "z", 0, 1.0)], 10)])
    assert ranking.measures["ranking_instances"] == ranking.measures["ranking_rows"] == 1
    assert ranking.measures["ranking_evicted"] == 4
    run(case, ranking, [([], OPEN_END)])
    assert ranking.measures["ranking_rows"] == ranking.state_rows == 0
