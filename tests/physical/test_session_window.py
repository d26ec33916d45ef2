"""Session windows: their ends, whatever the ticks, and partitions that move."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemill import Engine

Visit = tuple[int, int]  # who and when


def sessions(visits: list[Visit], gap: int) -> list[tuple[int, int, int]]:
    """Every visit with the end of its session, straight from the words."""
    found = []
    for who, when in visits:
        last = when
        while later := [t for w, t in visits if w == who and last < t < last + gap]:
            last = max(later)
        found.append((who, when, last + gap))
    return sorted(found)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 40)), max_size=8), max_size=5),
    st.integers(1, 8),
)
def test_a_row_holds_as_long_as_its_session(ticks: list[list[Visit]], gap: int) -> None:
    engine = Engine(runtime="inprocess")
    columns = pa.schema([("who", pa.int64()), ("at", pa.int64())])
    tables = [
        pa.Table.from_pylist([{"who": who, "at": at} for who, at in tick], columns)
        for tick in [[], *ticks]
    ]
    engine.stream("visit", tables, time="at", slack=40)
    query = engine.sql(f"SELECT who FROM visit WINDOW(PARTITION BY who SESSION {gap})")
    found = sorted(tuple(row.values()) for row in query.collect(coalesce=False).to_pylist())
    assert found == sessions([visit for tick in ticks for visit in tick], gap)


def test_sessions_end_with_the_watermark() -> None:
    """Rows are given out as soon as no other can prolong their session, and forgotten."""
    engine = Engine(runtime="inprocess")
    ticks = [[{"v": 1, "at": 1}], [{"v": 2, "at": 3}], [{"v": 3, "at": 20}], [{"v": 4, "at": 40}]]
    engine.stream("s", ticks, time="at")
    query = engine.sql("SELECT v FROM s WINDOW(SESSION 5)")
    rows = [tuple(row.values()) for row in query.collect().to_pylist()]
    assert rows == [(1, 1, 8), (2, 3, 8), (3, 20, 25), (4, 40, 45)]
