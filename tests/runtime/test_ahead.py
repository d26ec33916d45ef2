"""Rows from the future: AT MOST ... AHEAD, held to a simple definition."""

import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemill import Engine, TidemillError
from tidemill.sql import Tidemill, parse_one

COLUMNS = pa.schema({"v": pa.int64(), "at": pa.int64()})
HOUR = 3_600_000_000


def taken(ticks, slack, ahead):
    """The definition: within a tick, a row is taken if it is not before the watermark of the ticks
    before, nor more than `ahead` after it, once that watermark has begun to move."""
    mark, newest, rows = 0, -1, []
    for tick in ticks:
        good = [t for t in tick if t >= mark and (mark == 0 or t <= mark + ahead)]
        rows += good
        newest = max([newest, *good])
        mark = max(mark, newest - slack)
    return sorted(rows)


TICKS = st.lists(st.lists(st.integers(0, 40), min_size=1, max_size=4), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(TICKS, st.integers(0, 3), st.integers(0, 12), st.sampled_from([1, 3]))
def test_random_streams(ticks, slack, ahead, partitions):
    wanted = taken(ticks, slack, ahead)
    with Engine(runtime="inprocess", partitions=partitions, latency=None) as engine:
        engine.stream("s", COLUMNS, time="at", slack=slack, ahead=ahead, retain=1000)
        late = []
        graph = engine.run(every=None, late=lambda rows, tick: late.extend(rows.to_pylist()))
        query = engine.sql("SELECT v FROM s").start("memory", name="q")
        for tick in ticks:
            engine.push("s", [{"v": t, "at": t} for t in tick])
            graph.tick()
        later = engine.sql("SELECT v + 0 AS v FROM s").start("memory", name="later")
        graph.tick()
        graph.heartbeat("s", 100)
        graph.tick()
        told = [sorted(each.results().column("v").to_pylist()) for each in (query, later)]
        count = query.progress.sources["s"].late_rows
    assert told == [wanted, wanted]
    assert count == sum(map(len, ticks)) - len(wanted)


def test_one_row_from_the_far_future_does_not_make_the_others_late():
    engine = Engine(runtime="inprocess")
    engine.sql("CREATE STREAM s (v INT, ts TIMESTAMP) ORDERED BY ts AT MOST 1 HOUR AHEAD")
    graph = engine.run(every=None)
    query = engine.sql("SELECT v FROM s").start("memory", name="q")
    now = time.time_ns() // 1000
    for v, at in ((1, now), (2, now + 10 * HOUR), (3, now + HOUR // 2)):
        ts = pa.array([at], pa.timestamp("us"))
        engine.push("s", pa.table({"v": pa.array([v], pa.int32()), "ts": ts}))
        graph.tick()
    graph.heartbeat("s", now + 20 * HOUR)
    graph.tick()
    assert sorted(query.results().column("v").to_pylist()) == [1, 3]
    assert query.progress.sources["s"].late_rows == 1
    engine.close()


def test_files_and_late_rows(tmp_path):
    source, kept = tmp_path / "in", tmp_path / "late"
    source.mkdir()
    for number, times in enumerate(([5], [500], [7, 12])):
        (source / f"{number}.csv").write_text("v,at\n" + "".join(f"{t},{t}\n" for t in times))
    engine = Engine(runtime="inprocess")
    engine.sql(
        f"""CREATE STREAM s (v BIGINT, at BIGINT)
        SOURCE csv(path => '{source}', maxFilesPerTrigger => 1) ORDERED BY at AT MOST 10 AHEAD"""
    )
    query = engine.sql("SELECT v FROM s")
    run = query.start("memory", available_now=True, late=str(kept))
    run.await_termination()
    assert sorted(run.results().column("v").to_pylist()) == [5, 7, 12]
    tables = [pq.read_table(file) for file in kept.rglob("*.parquet")]
    assert [v for table in tables for v in table.column("v").to_pylist()] == [500]
    engine.close()


@pytest.mark.parametrize(
    "clauses",
    [
        "ORDERED BY at AT MOST 5 AHEAD",
        "ORDERED BY at SLACK 2 RETAIN 9 AT MOST 1 PER v AT MOST 5 AHEAD",
    ],
)
def test_the_text_of_a_statement_comes_back(clauses):
    text = f"CREATE STREAM s (v BIGINT, at BIGINT) {clauses}"
    assert parse_one(text).tree.sql(dialect=Tidemill) == text


@pytest.mark.parametrize(
    ("clauses", "message"),
    [
        ("ORDERED BY at AT MOST 5 SECONDS AHEAD", "AT MOST ... AHEAD"),
        ("ORDERED BY at AT MOST 5 AHEAD AT MOST 6 AHEAD", "there twice"),
        ("SOURCE rate() AT MOST 5 SECONDS AHEAD", "needs a time"),
        ("ORDERED BY at AT MOST AHEAD", "AT MOST"),
    ],
)
def test_what_makes_no_sense_is_refused(clauses, message):
    with pytest.raises(TidemillError, match=message):
        Engine(runtime="inprocess").sql(f"CREATE STREAM s (v BIGINT, at BIGINT) {clauses}")
