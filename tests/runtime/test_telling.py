"""What operators tell those of other partitions, tick by tick, without Spark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import polars as pl
import pyarrow as pa
import pytest
from tests.spark.ticking import Ticks, native_batches

import tidemill as tm
from tidemill.algebra.plan import Plan
from tidemill.algebra.ranking import Strategy
from tidemill.fragments import Staged, stage_plans
from tidemill.physical.operator import Exec
from tidemill.physical.ranking import RankExec, approximate
from tidemill.physical.ranking.likely import Likely
from tidemill.runtime.inprocess.feeds import Feed
from tidemill.runtime.spark import state
from tidemill.runtime.spark.state import StateStore

FIRST = """
SELECT /*+ RANK(eaa) */ id, a.v + b.v AS score
FROM OBJECTS(alpha AS a, beta AS b BY id) WINDOW(RANGE 40) ORDER BY score DESC LIMIT 2
"""


def ranked_streams() -> tuple[Staged, dict[str, Feed]]:
    """Two streams in ticks; nine of ten objects of the first are later in the other, too."""
    random, engine = Random(5), tm.Engine(runtime="inprocess")
    alpha = [{"id": t, "v": random.random(), "at": t} for t in range(90)]
    beta = [{"id": t, "v": random.random(), "at": t + 3} for t in range(90) if t % 10]
    for name, rows in (("alpha", alpha), ("beta", beta)):
        ticks = [pa.Table.from_pylist(rows[at : at + 10]) for at in range(0, len(rows), 10)]
        engine.stream(name, ticks, time="at", ranges={"v": (0, 1)}, at_most={"id": 1})
    query = engine.sql(FIRST)
    feeds = {name: engine._sources.feed(engine.catalog.lookup(name)) for name in ("alpha", "beta")}
    plan = query.job.plan.transform(_approximate)
    assert isinstance(plan, Exec)
    return stage_plans([plan]), feeds


def _approximate(node: Plan) -> Plan:
    if not isinstance(node, RankExec):
        return node
    return replace(node, ranked=replace(node.ranked, strategy=Strategy.APPROXIMATE))


def rows_of(frames: list[pl.DataFrame]) -> list[str]:
    return sorted(repr(row) for frame in frames for row in frame.iter_rows())


def test_partitions_know_what_all_have_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    staged, feeds = ranked_streams()
    made: list[Likely] = []

    class Watched(Likely):
        def start(self, partition: int) -> None:
            super().start(partition)
            made.append(self)

    monkeypatch.setattr(approximate, "Likely", Watched)
    ticks = Ticks(staged, tmp_path.as_uri(), 3, monkeypatch)
    for number, batch in enumerate(native_batches(staged, feeds)[:8]):
        ticks.tick(number, *batch)
    own, known = ([getattr(each, name).objects[0] for each in made] for name in ("_own", "_all"))
    assert len(own) == 3
    assert sum(own) == 40  # all objects of the window
    # They know of the others what these told after the tick before.
    assert all(30 <= objects < 40 for objects in known)


def test_replayed_ticks_hear_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    staged, feeds = ranked_streams()
    batches = native_batches(staged, feeds)
    calm = Ticks(staged, (tmp_path / "calm").as_uri(), 2, monkeypatch)
    expected = [rows_of(calm.tick(number, *batch)) for number, batch in enumerate(batches)]
    told = told_at(calm, len(batches) - 1)
    monkeypatch.setattr(StateStore, "size_since", lambda *_: (2**40, 0))  # rows only
    rough = Ticks(staged, (tmp_path / "rough").as_uri(), 2, monkeypatch)
    for number, batch in enumerate(batches):
        state._CACHE.clear()  # so that all ticks are run again
        assert rows_of(rough.tick(number, *batch)) == expected[number], number
    assert told_at(rough, len(batches) - 1) == told


def told_at(ticks: Ticks, tick: int) -> list[dict[str, object]]:
    """What the operators of both partitions have done, but for the time it took."""
    return [
        {**facts, "seconds": None}
        for partition in range(2)
        for facts in StateStore(ticks.state, 1, partition).read_report(tick)["operators"]
    ]
