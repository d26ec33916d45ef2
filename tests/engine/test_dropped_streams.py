"""Streams that are dropped while a graph runs, and others that get their names."""

from pathlib import Path

from tidemill import Engine
from tidemill.engine.kept import KeptStore


def _engine(folder: Path) -> Engine:
    return Engine(runtime="inprocess", keep=KeptStore(1000, folder / "results"))


def _run(engine: Engine, folder: Path) -> None:
    engine.run(checkpoint=str(folder / "graph"), every=None)


def _push(engine: Engine, *instants: int) -> None:
    engine.push("s", [{"a": at, "ts": at} for at in instants])
    engine.graph.tick()


_FIRST = """
CREATE STREAM s (a BIGINT, ts BIGINT) ORDERED BY ts;
CREATE QUERY q AS SELECT a FROM s WINDOW(RANGE 10)
"""
_SECOND = """
CREATE STREAM s (a BIGINT, ts BIGINT) ORDERED BY ts;
CREATE QUERY r AS SELECT COUNT(*) AS n FROM s WINDOW(RANGE 10)
"""


def test_a_stream_that_gets_the_name_of_another_begins_anew(tmp_path):
    engine = _engine(tmp_path)
    _run(engine, tmp_path)
    engine.sql(_FIRST + "; START QUERY q")
    _push(engine, 100, 200)
    engine.sql("DROP QUERY q; DROP STREAM s;" + _SECOND + "; START QUERY r")
    _push(engine, 1, 5, 7)
    assert engine.kept("r").snapshot().to_pylist() == [{"n": 2}]
    assert engine.graph.sources["s"].late_rows == 0
    engine.close()


def test_a_checkpoint_knows_streams_that_are_gone(tmp_path):
    engine = _engine(tmp_path)
    _run(engine, tmp_path)
    engine.sql(_FIRST + "; START QUERY q")
    _push(engine, 100, 200)
    engine.sql("DROP QUERY q; DROP STREAM s")
    engine.close()

    again = _engine(tmp_path)
    again.sql(_SECOND)
    _run(again, tmp_path)
    assert again.graph.let_go() == ()
    again.sql("START QUERY r")
    _push(again, 1, 5, 7)
    assert again.kept("r").snapshot().to_pylist() == [{"n": 2}]
    again.close()


def test_queries_of_a_checkpoint_that_nobody_starts_are_let_go(tmp_path):
    engine = _engine(tmp_path)
    _run(engine, tmp_path)
    engine.sql(_FIRST + "; START QUERY q")
    _push(engine, 100, 200)
    engine.close()

    again = _engine(tmp_path)
    again.sql("CREATE STREAM s (a BIGINT, ts BIGINT) ORDERED BY ts")
    _run(again, tmp_path)
    assert again.graph.let_go() == ("q",)
    again.graph.tick()
    assert not again.graph.nodes
    again.close()
