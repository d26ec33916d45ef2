"""Ticks take no more than they can do in time."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import tidemill as tm
from tidemill.connectors.feeds import MOST_BYTES
from tidemill.runtime.pace import Pace


def test_a_quiet_stream_changes_nothing() -> None:
    pace = Pace(0.5)
    before = pace.most
    for _ in range(100):
        pace.note(taken=1000, seconds=0.1)
    assert pace.most == before


def test_it_settles_where_ticks_take_as_long_as_they_may() -> None:
    pace, speed = Pace(1.0), 40 << 20
    for _ in range(20):
        pace.note(pace.most, pace.most / speed)
    assert speed / 2 <= pace.most <= 2 * speed


def test_it_never_stands_still_and_never_takes_all() -> None:
    pace = Pace(0.1)
    for _ in range(20):
        pace.note(pace.most, 60.0)
    assert pace.most > 0
    for _ in range(20):
        pace.note(pace.most, 0.01)
    assert pace.most == MOST_BYTES


def test_without_a_wish_there_is_no_other_bound() -> None:
    pace = Pace(None)
    pace.note(MOST_BYTES, 100.0)
    assert pace.most == MOST_BYTES


def test_a_burst_is_taken_in_pieces_and_answered_as_a_whole() -> None:
    """The bound is that of the run; what it cuts comes with the ticks after."""
    engine = tm.Engine("inprocess", latency="1 ms")
    engine.stream("s", pa.schema({"v": pa.int64(), "at": pa.int64()}), time="at")
    graph = engine.run(every=None)
    rows: list[int] = []
    query = engine.sql("SELECT v, COUNT(*) AS n FROM s WINDOW(RANGE 1) GROUP BY v")
    assert isinstance(query, tm.Query)
    running = query.start(lambda table, tick: rows.append(table.num_rows), name="q")
    size = 40_000
    for part in range(12):
        at = np.arange(part * size, (part + 1) * size)
        engine.push("s", pa.table({"v": at, "at": at}))
        if part == 0:
            graph.tick()
    ticks = 1
    while graph.has_more:
        graph.tick()
        ticks += 1
    assert ticks > 4
    running.heartbeat("s", 12 * size + 1)
    graph.tick()
    assert sum(rows) == 12 * size
