"""Answers that are kept are those of the query, up to the watermark, whatever happens."""

import polars as pl
import pyarrow as pa
import pytest

from tidemill import Engine
from tidemill.algebra import Schema
from tidemill.engine.kept import AnswerLog, KeptResults, KeptStore
from tidemill.errors import CatalogError

STREAM = "CREATE STREAM bid (item BIGINT, price BIGINT, at BIGINT) ORDERED BY at;"
COUNT = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 50) GROUP BY item"
START = f"CREATE QUERY n AS {COUNT}; START QUERY n"
ROWS = [{"item": i % 3, "price": i, "at": 2 * i} for i in range(60)]


def _engine(keep: KeptStore) -> Engine:
    engine = Engine(runtime="inprocess", keep=keep)
    engine.sql(STREAM)
    return engine


def _answer(rows=ROWS) -> pl.DataFrame:
    engine = Engine(runtime="inprocess")
    engine.stream("bid", [pa.Table.from_pylist(rows)], time="at")
    return pl.DataFrame(engine.sql(COUNT).collect(coalesce=True))


def _at(answer: pl.DataFrame, instant: int) -> list[dict]:
    holds = (pl.col("valid_from") <= instant) & (pl.col("valid_to") > instant)
    return answer.filter(holds).drop("valid_from", "valid_to").sort("item").to_dicts()


def _tick(engine: Engine, rows: list[dict], size: int) -> None:
    for place in range(0, len(rows), size):
        engine.push("bid", rows[place : place + size])
        engine.graph.tick()


@pytest.mark.parametrize("size", [1, 7, 60])
def test_every_snapshot_is_that_of_the_query(size):
    engine = _engine(KeptStore(rows=10_000))
    engine.run(every=None)
    engine.sql(START)
    _tick(engine, ROWS, size)
    kept, answer = engine.kept("N"), _answer()
    assert kept.complete_until == ROWS[-1]["at"]
    for instant in range(kept.complete_until):
        assert kept.snapshot(instant).to_pylist() == _at(answer, instant)
    assert kept.snapshot().to_pylist() == _at(answer, kept.complete_until - 1)


def test_rows_that_were_cut_at_watermarks_are_whole_again():
    engine = _engine(KeptStore(rows=10_000))
    engine.run(every=None)
    engine.sql(START)
    _tick(engine, ROWS, 1)
    known = engine.kept("n").between(20, 60).to_pylist()
    answer = _answer().filter((pl.col("valid_from") < 60) & (pl.col("valid_to") > 20))
    assert sorted(map(str, known)) == sorted(map(str, answer.to_dicts()))


def test_the_log_of_changes_goes_on_where_it_was():
    engine = _engine(KeptStore(rows=10_000))
    engine.run(every=None)
    engine.sql(START)
    log, since = [], 0
    for place in range(0, 60, 5):
        _tick(engine, ROWS[place : place + 5], 5)
        kept = engine.kept("n")
        log += kept.changes(since).to_pylist()
        since = kept.complete_until
    assert log == engine.kept("n").changes(0).to_pylist()
    assert sum(1 if each["change"] == "+" else -1 for each in log) == 3


@pytest.mark.parametrize("killed_at", [1, 5, 11])
def test_answers_are_there_again_after_a_crash(tmp_path, killed_at):
    def opened() -> Engine:
        engine = _engine(KeptStore(rows=10_000, folder=tmp_path / "kept"))
        engine.sql(f"CREATE QUERY n AS {COUNT}")
        engine.run(checkpoint=str(tmp_path / "graph"), every=None)
        engine.sql("START QUERY n")
        return engine

    engine = opened()
    for number, place in enumerate(range(0, 60, 5)):
        _tick(engine, ROWS[place : place + 5], 5)
        if number == killed_at:
            before = engine.kept("n").snapshot(20).to_pylist()
            engine.close()
            engine = opened()
            assert engine.kept("n").snapshot(20).to_pylist() == before
    answer = _answer()
    for instant in range(0, engine.kept("n").complete_until, 3):
        assert engine.kept("n").snapshot(instant).to_pylist() == _at(answer, instant)
    engine.close()


def test_what_ended_first_goes_first():
    engine = _engine(KeptStore(rows=20))
    engine.run(every=None)
    engine.sql(START)
    _tick(engine, ROWS, 5)
    kept, answer = engine.kept("n"), _answer()
    assert kept.rows <= 20
    assert 0 < kept.kept_from < kept.complete_until
    for instant in range(kept.kept_from, kept.complete_until):
        assert kept.snapshot(instant).to_pylist() == _at(answer, instant)


def test_a_query_that_is_started_again_begins_anew_and_one_that_is_dropped_leaves_nothing(tmp_path):
    engine = _engine(KeptStore(rows=100, folder=tmp_path))
    engine.run(every=None)
    engine.sql(START)
    _tick(engine, ROWS[:10], 5)
    assert engine.kept("n").rows
    engine.sql("STOP QUERY n")
    assert engine.kept("n").rows
    engine.sql("START QUERY n")
    assert engine.kept("n").rows == 0
    engine.sql("DROP QUERY N")
    engine.close()
    assert {name for name, _, _ in AnswerLog(str(tmp_path)).entries()} == {"n"}
    assert not KeptResults(Schema.of(), None, 1).rows
    with pytest.raises(CatalogError, match="there is no query `n`"):
        engine.kept("n")


def test_queries_with_a_sink_of_their_own_keep_nothing():
    engine = _engine(KeptStore(rows=100))
    engine.sql(f"CREATE QUERY n AS INSERT INTO console() {COUNT}")
    with pytest.raises(CatalogError, match="keeps no results"):
        engine.kept("n")


def test_a_tick_that_comes_again_counts_once():
    kept = KeptResults(Schema.of(item=pa.int64()), None, rows=100)
    rows = pl.DataFrame({"item": [1], "valid_from": [3], "valid_to": [4]})
    for tick in (0, 1, 1, 0):
        kept.give(rows, tick)
    assert kept.rows == 2
