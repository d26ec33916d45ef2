"""Worked examples of streams that meet a relation that changes, through the operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.checking.plans import Inputs, check_plan
from tests.golden.star import cases
from tests.random.data import RandomStream
from tests.random.plans import COLUMNS
from tests.random.relations import VERSIONED
from tidemill.algebra import Plan, Scan, Shedding, SourceKind, StarJoin, TimeWindow
from tidemill.algebra.nodes import Join, SemiJoin
from tidemill.algebra.scalar import column, equality
from tidemill.testing.snapshots import elements, snapshot_at
from tidemill.timeline import OPEN_END

R, S = Scan("r", "r", COLUMNS), Scan("s", "s", COLUMNS)
F = Scan("f", "f", VERSIONED, SourceKind.CHANGING)
TICKS = [pytest.param(False, id="one tick"), pytest.param(True, id="a tick per instant")]

Rows = Sequence[Sequence[int]]


def inputs(r: Rows, s: Rows, f: Sequence[Sequence[int | None]], per_instant: bool) -> Inputs:
    """[ts, value, importance] in streams; [values, begin, end] in the relation."""
    versions = [
        (row(values[0], values[-1]), max(begin or 0, 0), OPEN_END if end is None else end)
        for *values, begin, end in f
    ]
    rows_r = [{**row(value, weight, ts), "at": ts} for ts, value, weight in r]
    rows_s = [{**row(weight, value, ts), "at": ts} for ts, value, weight in s]
    streams = {"r": stream(rows_r, per_instant), "s": stream(rows_s, per_instant)}
    return Inputs(streams, changing={"f": versions}, arrival=len(f))


def row(k: int | None, v: int | None, ts: int = 0) -> dict[str, Any]:
    """Values of r are in the column `k`, those of s in `v`, where the relation has them too."""
    return {"k": k, "v": v, "f": float(ts), "s": None}


def stream(rows: Sequence[dict[str, Any]], per_instant: bool) -> RandomStream:
    last = max((each["at"] for each in rows), default=0)
    ticks = tuple(tuple(each for each in rows if each["at"] == ts) for ts in range(last + 1))
    return RandomStream(ticks if per_instant else (tuple(rows),), slack=0)


def star(life: int) -> Plan:
    """The join of both streams by the values of the relation, without a bound."""
    windows = (TimeWindow(R, life), TimeWindow(S, life))
    keys, shedding = (("r.k",), ("s.v",)), Shedding(1, (None, None))
    return StarJoin(windows, F, keys, (("f.k",), ("f.v",)), shedding).exact


def found(plan: Plan, data: Inputs) -> list[dict[str, Any]]:
    """The rows of a result; they are also held against the reference."""
    return check_plan(plan, data).to_pylist()


@pytest.mark.parametrize("per_instant", TICKS)
@pytest.mark.parametrize("name", ["example_exact", "second_example_exact"])
def test_exact_star_join(name: str, per_instant: bool) -> None:
    case = cases()[name]
    data = case["inputs"]
    rows = found(star(data["m"]), inputs(data["R"], data["S"], data["F"], per_instant))
    columns = ("valid_from", "r.f", "s.f", "r.k", "s.v")
    results = [[*(each[name] for name in columns), importance(each)] for each in rows]
    assert sorted(results) == sorted(case["expected"]["rows"])
    assert sum(map(importance, rows)) == case["expected"]["importance"]


def importance(result: dict[str, Any]) -> int:
    return int(min(result["r.v"], result["s.k"]))


@pytest.mark.parametrize("per_instant", TICKS)
@pytest.mark.parametrize("kind", [Join, SemiJoin])
def test_semi_streaming_join(kind: type[Join | SemiJoin], per_instant: bool) -> None:
    case = cases()["semi_streaming_join"]
    data = inputs(case["inputs"]["R"], [], case["inputs"]["F"], per_instant)
    plan = kind(R, F, equality(column("r.k", COLUMNS["k"]), column("f.k", COLUMNS["k"])))
    rows = found(plan, data)
    assert sorted([r["r.f"], r["r.k"], r["r.v"]] for r in rows) == case["expected"]["rows"]
    assert sum(each["r.v"] for each in rows) == case["expected"]["importance"]


@pytest.mark.parametrize("per_instant", TICKS)
def test_window_and_expiry(per_instant: bool) -> None:
    case = cases()["window_and_expiry"]
    data = inputs([[ts, 0, 0] for ts in range(max(case["inputs"]["j"]) + 1)], [], [], per_instant)
    result = elements(check_plan(TimeWindow(R, case["inputs"]["m"]), data))
    windows = [
        sorted(int(each[2]) for each in snapshot_at(result, instant))
        for instant in case["inputs"]["j"]
    ]
    assert windows == case["expected"]["window_ts"]
    now = {int(each[2]) for each in snapshot_at(result, 5)}
    assert sorted(set(range(6)) - now) == case["expected"]["expired_at_5"]


CONDITIONS = cases()["dynamic_relation_condition"]["expected"]["cases"]


@pytest.mark.parametrize("per_instant", TICKS)
@pytest.mark.parametrize("case", CONDITIONS, ids=lambda case: str(case["why"]))
def test_one_row_is_active_at_both_arrivals(case: dict[str, Any], per_instant: bool) -> None:
    r, s = ([[case[name]["ts"], case[name]["value"], 1]] for name in "rs")
    versions = case.get("F_tuples") or [case["F_tuple"]]
    rows = found(star(10), inputs(r, s, versions, per_instant))
    assert bool(rows) == case["output"]
