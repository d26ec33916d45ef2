"""What operators tell those of other partitions, tick by tick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import tidemill as tm
from tests.checking.sources import stream_source
from tests.fabrics.simulated import Elsewhere
from tests.runtime.cases import Bounded
from tests.runtime.test_state import counted
from tidemill.algebra.plan import Plan
from tidemill.algebra.ranking import Strategy
from tidemill.physical.operator import Exec
from tidemill.physical.operators.ranking import RankExec, approximate
from tidemill.physical.operators.ranking.likely import Likely
from tidemill.runtime import state
from tidemill.runtime.fabric import Fabric, InProcess
from tidemill.runtime.state import StageState
from tidemill.store import Store

FIRST = """
SELECT /*+ RANK(eaa) */ id, a.v + b.v AS score
FROM OBJECTS(alpha AS a, beta AS b BY id) WINDOW(RANGE 40) ORDER BY score DESC LIMIT 2
"""


def ranked_streams() -> tuple[Exec, dict[str, list[pa.Table]]]:
    """Two streams in ticks; nine of ten objects of the first are later in the other, too."""
    random, engine = Random(5), tm.Engine(runtime="inprocess")
    alpha = [{"id": t, "v": random.random(), "at": t} for t in range(90)]
    beta = [{"id": t, "v": random.random(), "at": t + 3} for t in range(90) if t % 10]
    tables = {}
    for name, rows in (("alpha", alpha), ("beta", beta)):
        tables[name] = [pa.Table.from_pylist(rows[at : at + 10]) for at in range(0, len(rows), 10)]
        engine.stream(name, tables[name], time="at", ranges={"v": (0, 1)}, at_most={"id": 1})
    plan = engine.sql(FIRST).operators.rewrite(_approximate)
    assert isinstance(plan, Exec)
    return plan, tables


def _approximate(node: Plan) -> Plan:
    if not isinstance(node, RankExec):
        return node
    return replace(node, ranked=replace(node.ranked, strategy=Strategy.APPROXIMATE))


def run_of(fabric: Fabric, folder: Path | None = None) -> Bounded:
    plan, tables = ranked_streams()
    store = None if folder is None else Store(str(folder))
    sources: Mapping[str, Any] = {
        name: stream_source(name, ticks, "at", store=store) for name, ticks in tables.items()
    }
    return Bounded(plan, sources, fabric, store)


def test_partitions_know_what_all_have_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Likely] = []

    class Watched(Likely):
        def start(self, partition: int) -> None:
            super().start(partition)
            made.append(self)

    monkeypatch.setattr(approximate, "Likely", Watched)
    bounded = run_of(InProcess(3, packs=True))
    for _ in range(8):
        bounded.tick()
    own, known = ([getattr(each, name).objects[0] for each in made] for name in ("_own", "_all"))
    assert len(own) == 3
    assert sum(own) == 40  # all objects of the window
    # They know of the others what these told after the tick before.
    assert all(30 <= objects < 40 for objects in known)


def test_replayed_ticks_hear_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calm = run_of(InProcess(2))
    calm.whole()
    monkeypatch.setattr(StageState, "size_since", lambda *_: (2**40, 0))  # rows only
    rough = run_of(Elsewhere(2), tmp_path)
    while not rough.run.is_ended:
        state._CACHE.clear()  # so that all ticks are run again
        rough.tick()
    assert {tick: counted(rows) for tick, rows in rough.rows.ticks.items()} == {
        tick: counted(rows) for tick, rows in calm.rows.ticks.items()
    }
    assert done_by(rough) == done_by(calm)
    rough.run.stop()


def done_by(bounded: Bounded) -> list[dict[str, object]]:
    """What the operators of both partitions have done, but for the time it took."""
    return [
        {**asdict(facts), "seconds": None}
        for report in bounded.run._reports
        for facts in report.operators
    ]
