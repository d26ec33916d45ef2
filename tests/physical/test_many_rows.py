"""Operators on batches of thousands of rows, where random cases have a few, against brute force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from tidemill.algebra import Scan, Schema
from tidemill.physical.operators.coalesce import CoalesceExec
from tidemill.physical.operators.join import JoinExec, meeting
from tidemill.physical.operators.source import SourceExec
from tidemill.timeline import OPEN_END

ROWS, TICKS, LENGTH = 3000, 3, 400


def leaf(alias: str) -> SourceExec:
    return SourceExec(Scan(alias, alias, Schema.of(k=pa.int64())))


def batches(dice: np.random.Generator, alias: str, rows: int, keys: int) -> list[pl.DataFrame]:
    """Rows of every tick, which covers a length of time."""
    result = []
    for tick in range(TICKS):
        start = tick * LENGTH + dice.integers(0, LENGTH, rows)
        end = start + dice.integers(1, 60, rows)
        end[dice.random(rows) < 0.002] = OPEN_END
        values = {f"{alias}.k": dice.integers(0, keys, rows)}
        result.append(pl.DataFrame({**values, "valid_from": start, "valid_to": end}))
    return result


def marks() -> list[int]:
    return [*(LENGTH * (tick + 1) for tick in range(TICKS - 1)), OPEN_END]


@pytest.mark.parametrize("block", [7, 2_000_000])
@pytest.mark.parametrize(("left", "right"), [(ROWS, 40), (40, ROWS), (ROWS // 3, ROWS // 3)])
def test_joins(monkeypatch: pytest.MonkeyPatch, block: int, left: int, right: int) -> None:
    monkeypatch.setattr(meeting, "MOST_PAIRS", block)
    dice = np.random.default_rng(left + right)
    inputs = [batches(dice, "a", left, 50), batches(dice, "b", right, 50)]
    operator = JoinExec((leaf("a"), leaf("b")), (("a.k",), ("b.k",))).operator()
    found = Counter[tuple[int, ...]]()
    for ones, others, mark in zip(*inputs, marks(), strict=True):
        found.update(operator.step([ones, others], [mark, mark])[0].rows())
    assert found == Counter(_pairs(*inputs))


def _pairs(left: Sequence[pl.DataFrame], right: Sequence[pl.DataFrame]) -> list[tuple[int, ...]]:
    ones, others = pl.concat(left).rows(), pl.concat(right).rows()
    return [
        (k, k, max(start, begin), min(end, stop))
        for k, start, end in ones
        for key, begin, stop in others
        if k == key and start < stop and begin < end
    ]


@pytest.mark.parametrize("longest", [None, 1, 30])
@pytest.mark.parametrize("keys", [3, 500])
def test_coalescing(longest: int | None, keys: int) -> None:
    rows = batches(np.random.default_rng(keys), "a", ROWS, keys)
    operator = CoalesceExec(leaf("a"), longest).operator()
    found, promised = [], 0
    for batch, mark in zip(rows, marks(), strict=True):
        result, watermark = operator.step([batch], [mark])
        assert result["valid_from"].min() is None or result["valid_from"].min() >= promised
        promised = watermark
        found.append(result)
    assert operator.state_rows == 0
    assert _changes(found) == _changes(rows)
    if longest is None:
        everything = pl.concat(found)
        starts = set(everything.select("a.k", "valid_from").rows())
        assert starts.isdisjoint(everything.select("a.k", "valid_to").rows())


def _changes(batches: Sequence[pl.DataFrame]) -> Counter[tuple[int, int]]:
    """How many more rows of a value hold from an instant on: equal for equal snapshots."""
    changes: Counter[tuple[int, int]] = Counter()
    for key, start, end in pl.concat(batches).rows():
        changes[key, start] += 1
        changes[key, end] -= 1
    return Counter({at: change for at, change in changes.items() if change})
