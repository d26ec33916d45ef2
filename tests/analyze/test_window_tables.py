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


def sessions(times: list[int], gap: int) -> Iterator[Window]:
    """The sessions of one key: the first time, and the last one plus the gap."""
    ordered = sorted(times)
    firsts = [t for n, t in enumerate(ordered) if n == 0 or t - ordered[n - 1] >= gap]
    for first, after in zip(firsts, [*firsts[1:], None], strict=True):
        last = max(t for t in ordered if after is None or t < after)
        yield first, last + gap


@settings(deadline=None, max_examples=30)
@given(
    times=st.lists(
        st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 30)), max_size=5), max_size=4
    )
)
def test_a_session_comes_when_it_is_over(times: list[list[tuple[str, int]]]) -> None:
    engine = Engine(runtime="inprocess")
    columns = pa.schema([("k", pa.string()), ("at", pa.int64())])
    ticks = [[{"k": k, "at": t} for k, t in tick] for tick in times]
    tables = [pa.Table.from_pylist(tick, columns) for tick in [[], *ticks]]
    engine.stream("s", tables, time="at", slack=30)
    table = "SESSION(TABLE s PARTITION BY k, DESCRIPTOR(at), 4)"
    spellings = (
        f"SELECT k, window_start, window_end, COUNT(*) AS n FROM {table} GROUP BY 1, 2, 3",
        "SELECT k, session_window.start, session_window.end, COUNT(*) AS n FROM s"
        " GROUP BY session_window(at, '4'), k",
        "SELECT k, SESSION_START(at, 4) AS b, SESSION_END(at, 4) AS e, COUNT(*) AS n FROM s"
        " GROUP BY k, SESSION(at, 4)",
    )
    every = [row for tick in times for row in tick]
    wanted = [
        (k, first, end, sum(key == k and first <= t < end for key, t in every), end - 1, end)
        for k in sorted({k for k, _ in every})
        for first, end in sessions([t for key, t in every if key == k], 4)
    ]
    for sql in spellings:
        found = sorted(tuple(row.values()) for row in engine.sql(sql).collect().to_pylist())
        assert found == wanted, sql


def test_the_older_way_of_flink_means_the_same() -> None:
    engine = Engine(runtime="inprocess")
    engine.stream("s", [{"item": "a", "at": at} for at in (1, 2, 9, 14)], time="at")
    pairs = {
        "SELECT TUMBLE_START(at, 5) AS b, COUNT(*) AS n FROM s GROUP BY TUMBLE(at, 5)": (
            "SELECT window_start AS b, COUNT(*) AS n FROM TUMBLE(TABLE s, DESCRIPTOR(at), 5)"
            " GROUP BY window_start, window_end"
        ),
        "SELECT HOP_ROWTIME(at, 2, 6) AS t, MAX(item) AS m FROM s GROUP BY HOP(at, 2, 6)": (
            "SELECT window_time AS t, MAX(item) AS m FROM HOP(TABLE s, DESCRIPTOR(at), 2, 6)"
            " GROUP BY window_time"
        ),
    }
    for older, table in pairs.items():
        assert engine.sql(older).collect().to_pylist() == engine.sql(table).collect().to_pylist()
