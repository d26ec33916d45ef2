"""State on disk: what is written, read again, forgotten, and done twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import tidemill as tm
from tests.checking.sources import stream_source
from tests.fabrics.answers import multiset, query_of
from tests.fabrics.simulated import Rough
from tests.random.graphs import Crash, CrashingStore
from tests.runtime.cases import Bounded, make_case
from tidemill.errors import DamageError, ExecutionError
from tidemill.physical.lowering import lower
from tidemill.runtime import state
from tidemill.runtime.fabric import InProcess
from tidemill.runtime.state import StageState, TickRows, forget_undone
from tidemill.store import Store

FOLDER = "state/stage=1/partition=0"


@pytest.fixture(autouse=True)
def _no_memory() -> Iterator[None]:
    state._CACHE.clear()
    yield
    state._CACHE.clear()


def state_in(folder: Path, run: str = "", partition: int = 0) -> StageState:
    return StageState(Store(str(folder)), 1, partition, run)


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def brought(*values: int, mark: int = 0) -> TickRows:
    return TickRows({3: pl.DataFrame({"v": values})}, {3: mark}, {})


class TestFiles:
    def test_nothing_yet(self, tmp_path: Path) -> None:
        assert state_in(tmp_path).history(-1) == (None, [])
        assert state_in(tmp_path).size_since(-1) == (0, 0)

    def test_a_snapshot_and_the_rows_after_it(self, tmp_path: Path) -> None:
        store = state_in(tmp_path)
        store.write_snapshot(0, {"a": 1})
        store.write_rows(1, brought(1, 2, mark=10))
        store.write_rows(2, brought(3, mark=2**63 - 1))
        base, after = store.history(2)
        assert base is not None
        assert store.read_snapshot(base) == {"a": 1}
        assert [segment.tick for segment in after] == [1, 2]
        assert store.read_rows(after[0]).rows[3].to_dict(as_series=False) == {"v": [1, 2]}
        assert store.read_rows(after[1]).marks == {3: 2**63 - 1}
        assert [segment.tick for segment in store.history(1)[1]] == [1]

    def test_functions_are_not_stored(self, tmp_path: Path) -> None:
        with pytest.raises(ExecutionError, match=r"cannot hold a value of the type .*function"):
            state_in(tmp_path).write_snapshot(0, lambda x: x + 1)

    def test_only_whole_files_count(self, tmp_path: Path) -> None:
        store = state_in(tmp_path)
        store.write_snapshot(0, "whole")
        (tmp_path / FOLDER / ".000000000001.rows.abc.temporary").write_bytes(b"ha")
        assert store.history(0)[1] == []

    def test_a_tick_done_again_takes_the_place_of_the_first(self, tmp_path: Path) -> None:
        store = state_in(tmp_path)
        store.write_snapshot(0, "start")
        store.write_rows(1, brought(1))
        store.write_snapshot(1, "other")
        assert files(tmp_path) == ["000000000000.snapshot", "000000000001.snapshot"]
        assert store.has_snapshot(1)  # so rows will not do

    def test_a_task_that_comes_late_leaves_later_ticks_alone(self, tmp_path: Path) -> None:
        store = state_in(tmp_path)
        store.write_snapshot(0, "start")
        for tick in (1, 2, 3):
            store.write_rows(tick, brought(tick))
        store.write_rows(1, brought(1))
        store.write_snapshot(2, "other")
        names = ["0.snapshot", "1.rows", "2.snapshot", "3.rows"]
        assert files(tmp_path) == [f"{0:011d}{name}" for name in names]

    def test_a_run_that_begins_again_forgets_what_was_not_done(self, tmp_path: Path) -> None:
        for partition in (0, 1):
            store = state_in(tmp_path, partition=partition)
            store.write_snapshot(0, "start")
            store.write_rows(1, brought(1))
            store.write_snapshot(2, "from a future that was lost")
        forget_undone(Store(str(tmp_path)), 1)
        assert files(tmp_path) == [
            f"{0:011d}{name}" for name in ["0.snapshot"] * 2 + ["1.rows"] * 2
        ]

    def test_what_a_replay_of_the_last_tick_needs_is_kept(self, tmp_path: Path) -> None:
        store = state_in(tmp_path)
        for tick in range(6):
            if tick % 3:
                store.write_rows(tick, brought(tick))
            else:
                store.write_snapshot(tick, tick)
            store.forget_before(tick - 1)
            base, after = store.history(tick - 1)
            assert (base is None) == (tick == 0)
            wanted = list(range(tick - tick % 3, tick))[1:]
            assert tick % 3 == 0 or [segment.tick for segment in after] == wanted
        assert [name[11] for name in files(tmp_path)] == ["3", "4", "5"]

    def test_missing_state_is_noticed(self, tmp_path: Path) -> None:
        store = state_in(tmp_path)
        store.write_snapshot(0, "start")
        store.write_rows(1, brought(1))
        store.write_rows(2, brought(2))
        (tmp_path / FOLDER / "000000000001.rows").unlink()
        for tick in (2, 3):
            with pytest.raises(DamageError, match=r"000000000001\.rows is damaged: it is missing"):
                store.history(tick)


class TestMemory:
    def test_it_is_handed_over_once(self, tmp_path: Path) -> None:
        store = state_in(tmp_path)
        store.remember(4, "operators")
        assert store.cached(4) == (4, "operators")
        assert store.cached(4) == (-1, None)

    def test_older_memory_is_a_start(self, tmp_path: Path) -> None:
        store = state_in(tmp_path)
        for tick in range(6):
            if tick == 1:
                store.write_snapshot(tick, "state")
            else:
                store.write_rows(tick, brought(tick))
        store.remember(3, "operators")
        assert store.cached(5) == (3, "operators")
        base, missing = store.history(5, known=3)
        assert (base, [segment.tick for segment in missing]) == (None, [4, 5])
        base, missing = store.history(5, known=0)
        assert base is not None
        assert (base.tick, [segment.tick for segment in missing]) == (1, [2, 3, 4, 5])

    def test_that_of_a_later_tick_or_another_run_is_not_used(self, tmp_path: Path) -> None:
        state_in(tmp_path, "first").remember(4, "operators")
        assert state_in(tmp_path, "second").cached(4) == (-1, None)
        assert state_in(tmp_path, "first").cached(3) == (-1, None)

    def test_that_of_partitions_that_went_elsewhere_is_let_go(self, tmp_path: Path) -> None:
        state_in(tmp_path, "run").remember(4, "operators")
        state_in(tmp_path, "run", partition=1).cached(8)
        assert state._CACHE
        state_in(tmp_path, "other", partition=1).cached(9)
        assert state._CACHE, "that of another run is not in the way"
        state_in(tmp_path, "run", partition=1).cached(9)
        assert not state._CACHE

    def test_a_run_that_ends_leaves_nothing(self, tmp_path: Path) -> None:
        for run in ("run", "run2"):
            state_in(tmp_path, run).remember(4, "operators")
        state.forget("run")
        assert list(state._CACHE) == ["run2/1/0"]


class Interrupted:
    """A run that crashes at any of its writes, and whose tasks have their troubles too."""

    def __init__(self, seed: int, folder: Path) -> None:
        self._case, plan, _ = make_case("plans", seed)
        self._plan = lower(plan, {})
        self._random = Random(seed)
        self._folder = str(folder)
        self.crashes = 0
        self.ticks: dict[int, Counter[str]] = {}
        self._open()

    def _open(self) -> None:
        self._store = CrashingStore(self._folder)
        sources, fabric = self._case.inputs.sources(self._store), Rough(2, self._random)
        self._bounded = Bounded(self._plan, sources, fabric, self._store)

    def whole(self) -> None:
        while not self._bounded.run.is_ended:
            self._store.left = self._random.choice([None, self._random.randrange(8)])
            try:
                self._bounded.tick()
            except Crash:
                self.crashes += 1
            self._note()
            stops, self._store.left = self._store.left is not None, None
            if stops or self._random.random() < 0.4:
                self._bounded.run.stop()
                self._open()
        self._bounded.run.stop()

    def _note(self) -> None:
        for tick, rows in self._bounded.rows.ticks.items():
            found = counted(rows)
            assert self.ticks.setdefault(tick, found) == found, f"tick {tick} done again"


def counted(rows: pl.DataFrame) -> Counter[str]:
    return Counter(repr(row) for row in rows.iter_rows())


@pytest.mark.parametrize("seed", range(45))
def test_stops_at_any_point_change_nothing(seed: int, tmp_path: Path) -> None:
    """Whatever is lost, a tick gives what it gives if nothing is."""
    case, plan, _ = make_case("plans", seed)
    calm = Bounded(lower(plan, {}), case.inputs.sources(), InProcess(2))
    calm.whole()
    interrupted = Interrupted(seed, tmp_path)
    interrupted.whole()
    wanted = {tick: counted(rows) for tick, rows in calm.rows.ticks.items()}
    assert interrupted.ticks == wanted


def test_there_are_enough_stops(tmp_path: Path) -> None:
    crashes = 0
    for seed in range(12):
        interrupted = Interrupted(seed, tmp_path / str(seed))
        interrupted.whole()
        crashes += interrupted.crashes
    assert crashes > 20


@pytest.mark.parametrize("seed", range(12))
def test_rows_keep_their_numbers(seed: int, tmp_path: Path) -> None:
    """An anti-join knows rows by number, in two places: both must mean the same row."""
    bids = [{"k": k % 7, "v": k, "at": 1 + k // 10} for k in range(40)]
    sales = [{"k": k, "at": 2} for k in range(0, 7, 2)]
    tables = {"alpha": pa.Table.from_pylist(bids), "beta": pa.Table.from_pylist(sales)}
    engine = tm.Engine(runtime="inprocess")
    for name, table in tables.items():
        engine.stream(name, [table], time="at")
    query = query_of(
        engine,
        "SELECT k, v FROM alpha WINDOW(RANGE 3) WHERE NOT EXISTS "
        "(SELECT 1 FROM beta WINDOW(RANGE 2) WHERE beta.k = alpha.k)",
    )
    store = Store(str(tmp_path))
    sources: dict[str, Any] = {
        name: stream_source(name, [table], "at", store=store) for name, table in tables.items()
    }
    rough = Bounded(query.operators, sources, Rough(2, Random(seed)), store)
    found = query._output(rough.whole(), "valid_from", "valid_to")
    assert multiset(found) == multiset(query.collect())
    rough.run.stop()
