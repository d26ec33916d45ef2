"""TUMBLE, HOP, CUMULATE and window(...) give each window's rows once it is complete."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemill import Engine

Window = tuple[int, int]


def tumbling(time: int, size: int) -> Iterator[Window]:
    yield time // size * size, time // size * size + size


def hopping(time: int, slide: int, size: int) -> Iterator[Window]:
    """All windows that start at a multiple of the slide and have the time in them."""
    for start in range(-size, time + 1):
        if start % slide == 0 and start <= time < start + size:
            yield start, start + size


def cumulative(time: int, step: int, size: int) -> Iterator[Window]:
    start = time // size * size
    for end in range(start + step, start + size + 1, step):
        if time < end:
            yield start, end


CASES = {
    "TUMBLE({}, 4)": (4, lambda t: tumbling(t, 4)),
    "HOP({}, 2, 6)": (2, lambda t: hopping(t, 2, 6)),
    "HOP({}, 5, 5)": (5, lambda t: hopping(t, 5, 5)),
    "CUMULATE({}, 2, 8)": (2, lambda t: cumulative(t, 2, 8)),
}


@pytest.mark.parametrize("table", CASES)
@settings(deadline=None, max_examples=30)
@given(times=st.lists(st.lists(st.integers(0, 30), max_size=5), max_size=4))
def test_every_window_once_and_complete(table: str, times: list[list[int]]) -> None:
    engine = Engine(runtime="inprocess")
    ticks = [[{"v": 1, "at": t} for t in tick] for tick in times]
    columns = pa.schema([("v", pa.int64()), ("at", pa.int64())])
    tables = [pa.Table.from_pylist(tick, columns) for tick in [[], *ticks]]
    engine.stream("s", tables, time="at", slack=30)
    source = table.format("TABLE s, DESCRIPTOR(at)")
    sql = f"SELECT window_start, window_end, COUNT(*) AS n FROM {source} GROUP BY 1, 2"
    found = sorted(tuple(row.values()) for row in engine.sql(sql).collect().to_pylist())
    slide, windows = CASES[table]
    every = [window for tick in times for t in tick for window in windows(t)]
    assert found == [
        (start, end, every.count((start, end)), end - 1, end - 1 + slide)
        for start, end in sorted(set(every))
    ]


def test_the_call_means_the_table() -> None:
    engine = Engine(runtime="inprocess")
    rows = [{"item": item, "at": at} for item, at in (("a", 1), ("b", 2), ("a", 9), ("a", 14))]
    engine.stream("s", rows, time="at")
    call = "SELECT item, window.start, window.end, COUNT(*) AS n FROM s GROUP BY item, {}"
    ends = "window_start AS start, window_end AS `end`"
    table = f"SELECT item, {ends}, COUNT(*) AS n FROM {{}} GROUP BY ALL"
    pairs = {
        "window(at, '10')": "TUMBLE(TABLE s, DESCRIPTOR(at), 10)",
        "window(at, '10', '5')": "HOP(TABLE s, DESCRIPTOR(at), 5, 10)",
    }
    for spark, flink in pairs.items():
        found, same = (engine.sql(q).collect() for q in (call.format(spark), table.format(flink)))
        assert found.to_pylist() == same.to_pylist()
        assert found.num_rows >= 3
