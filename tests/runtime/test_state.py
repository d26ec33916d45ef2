"""State on disk, without Spark: what is written, read again, forgotten, and done twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import polars as pl
import pyarrow as pa
import pytest
from tests.spark.driving import make_case, multiset, query_of
from tests.spark.ticking import Ticks, native_batches

import tidemill as tm
from tidemill.errors import ExecutionError
from tidemill.fragments import Staged, stage_plans
from tidemill.physical.lowering import lower
from tidemill.physical.operator import empty_batch
from tidemill.runtime.spark import state
from tidemill.runtime.spark.layout import TAG
from tidemill.runtime.spark.state import StateStore
from tidemill.testing.check import check_result, reference_of

SEEDS = range(45)


@pytest.fixture(autouse=True)
def _no_memory() -> None:
    state._CACHE.clear()


def store_in(folder: Path, run: str = "") -> StateStore:
    return StateStore(folder.as_uri(), 1, 0, run)


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def rows(*values: int) -> pa.Table:
    return pa.table({"v": pa.array(values, pa.int64())})


class TestStore:
    def test_nothing_yet(self, tmp_path: Path) -> None:
        assert store_in(tmp_path).history(-1) == (None, [])
        assert store_in(tmp_path).size_since(-1) == (0, 0)

    def test_a_snapshot_and_the_rows_after_it(self, tmp_path: Path) -> None:
        store = store_in(tmp_path)
        store.write_snapshot(0, {"a": 1})
        store.write_rows(1, rows(1, 2), {"3": 10})
        store.write_rows(2, rows(3), {"3": 2**63 - 1})
        base, after = store.history(2)
        assert base is not None
        assert store.read_snapshot(base) == {"a": 1}
        assert [segment.tick for segment in after] == [1, 2]
        assert store.read_rows(after[0])[0].to_pydict() == {"v": [1, 2]}
        assert store.read_rows(after[1])[1] == {"3": 2**63 - 1}
        assert [segment.tick for segment in store.history(1)[1]] == [1]

    def test_functions_can_be_stored(self, tmp_path: Path) -> None:
        store = store_in(tmp_path)
        step = 3
        store.write_snapshot(0, lambda x: x + step)
        base, _ = store.history(0)
        assert base is not None
        assert store.read_snapshot(base)(4) == 7

    def test_only_whole_files_count(self, tmp_path: Path) -> None:
        store = store_in(tmp_path)
        store.write_snapshot(0, "whole")
        (tmp_path / "stage=1/partition=0/000000000001.rows.abc.temporary").write_bytes(b"ha")
        assert store.history(0)[1] == []

    def test_a_tick_done_again_takes_the_place_of_the_first(self, tmp_path: Path) -> None:
        store = store_in(tmp_path)
        store.write_snapshot(0, "start")
        store.write_rows(1, rows(1), {})
        store.write_snapshot(1, "other")
        assert files(tmp_path) == ["000000000000.snapshot", "000000000001.snapshot"]
        store.write_rows(1, rows(1), {})
        assert files(tmp_path) == ["000000000000.snapshot", "000000000001.rows"]

    def test_what_a_replay_of_the_last_tick_needs_is_kept(self, tmp_path: Path) -> None:
        store = store_in(tmp_path)
        for tick in range(6):
            if tick % 3:
                store.write_rows(tick, rows(tick), {})
            else:
                store.write_snapshot(tick, tick)
            store.forget_before(tick - 1)
            base, after = store.history(tick - 1)
            assert (base is None) == (tick == 0)
            assert [s.tick for s in after] == list(range(tick - tick % 3, tick))[
                1:
            ] or tick % 3 == 0
        assert [name[11] for name in files(tmp_path)] == ["3", "4", "5"]

    def test_missing_state_is_noticed(self, tmp_path: Path) -> None:
        store = store_in(tmp_path)
        store.write_snapshot(0, "start")
        store.write_rows(1, rows(1), {})
        store.write_rows(2, rows(2), {})
        (tmp_path / "stage=1/partition=0/000000000001.rows").unlink()
        for tick in (2, 3):
            with pytest.raises(ExecutionError, match=f"state of tick {tick} is not complete"):
                store.history(tick)

    def test_memory_is_handed_over_once(self, tmp_path: Path) -> None:
        store = store_in(tmp_path)
        store.remember(4, "operators")
        assert store.cached(4) == (4, "operators")
        assert store.cached(4) == (-1, None)

    def test_older_memory_is_a_start(self, tmp_path: Path) -> None:
        store = store_in(tmp_path)
        for tick in range(6):
            store.write_snapshot(tick, "state") if tick == 1 else store.write_rows(
                tick, rows(tick), {}
            )
        store.remember(3, "operators")
        assert store.cached(5) == (3, "operators")
        base, missing = store.history(5, known=3)
        assert (base, [segment.tick for segment in missing]) == (None, [4, 5])
        base, missing = store.history(5, known=0)
        assert base is not None
        assert (base.tick, [segment.tick for segment in missing]) == (1, [2, 3, 4, 5])

    def test_memory_of_a_later_tick_or_another_run_is_not_used(self, tmp_path: Path) -> None:
        store_in(tmp_path, "first").remember(4, "operators")
        assert store_in(tmp_path, "second").cached(4) == (-1, None)
        assert store_in(tmp_path, "first").cached(3) == (-1, None)

    def test_memory_of_partitions_that_went_elsewhere_is_let_go(self, tmp_path: Path) -> None:
        StateStore(tmp_path.as_uri(), 1, 0).remember(4, "operators")
        StateStore(tmp_path.as_uri(), 1, 1).cached(8)
        assert state._CACHE
        StateStore(tmp_path.as_uri(), 1, 1).cached(9)
        assert not state._CACHE

    def test_reports_are_read_by_tick(self, tmp_path: Path) -> None:
        store = store_in(tmp_path)
        for tick in range(10):
            store.write_report(tick, {"level": 1, "tick": tick})
        assert store.read_report(9) == {"level": 1, "tick": 9}
        assert [name[11] for name in files(tmp_path)] == ["6", "7", "8", "9"]


def undisturbed(ticks: Ticks, seed: int) -> list[Counter[str]]:
    batches = native_batches(ticks.staged, make_case("plans", seed)[0].inputs.feeds())
    return [counted(ticks.tick(n, *batch)) for n, batch in enumerate(batches)]


def counted(frames: list[pl.DataFrame]) -> Counter[str]:
    return Counter(repr(row) for frame in frames for row in frame.iter_rows())


def staged_plan(seed: int) -> Staged:
    return stage_plans([lower(make_case("plans", seed)[1], {})])


@pytest.mark.parametrize("seed", SEEDS)
def test_stages_give_the_answer_of_the_reference(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, plan, _ = make_case("plans", seed)
    staged = staged_plan(seed)
    if not staged.stages:
        pytest.skip("Spark does it alone")
    ticks = Ticks(staged, tmp_path.as_uri(), 1 + seed % 3, monkeypatch)
    found = [empty_batch(plan.schema)]
    for number, batch in enumerate(native_batches(staged, case.inputs.feeds())):
        found += ticks.tick(number, *batch)
    check_result(pl.concat(found).to_arrow(), reference_of(plan, case.inputs))


@pytest.mark.parametrize("seed", SEEDS)
def test_lost_memory_and_ticks_done_again_change_nothing(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows come in another order the second time, as they do when Spark repeats a tick."""
    staged, random = staged_plan(seed), Random(seed)
    calm = Ticks(staged, (tmp_path / "calm").as_uri(), 2, monkeypatch)
    expected = undisturbed(calm, seed)
    rough = Ticks(staged, (tmp_path / "rough").as_uri(), 2, monkeypatch)
    batches = native_batches(staged, make_case("plans", seed)[0].inputs.feeds())
    for number, batch in enumerate(batches):
        for attempt in range(random.choice([1, 1, 2, 3])):
            if attempt or random.random() < 0.5:
                state._CACHE.clear()
            found = counted(rough.tick(number, *batch, turn=bool(attempt % 2)))
            assert found == expected[number], f"tick {number}, attempt {attempt}"
            assert rough.marks[number] == calm.marks[number]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_part_of_a_tick_done_again_fits_the_rest(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark may repeat one task of a stage while others keep the rows of its first attempt."""
    case, plan, _ = make_case("plans", seed)
    staged = staged_plan(seed)
    if not staged.stages:
        pytest.skip("Spark does it alone")
    ticks = Retold(staged, tmp_path.as_uri(), 2, monkeypatch)
    found = [empty_batch(plan.schema)]
    for number, batch in enumerate(native_batches(staged, case.inputs.feeds())):
        found += ticks.tick(number, *batch)
    check_result(pl.concat(found).to_arrow(), reference_of(plan, case.inputs))


def test_rows_keep_their_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An anti-join knows rows by number, in two places: both must mean the same row."""
    engine = tm.Engine(runtime="inprocess")
    bids = [{"k": k % 7, "v": k, "at": 1 + k // 10} for k in range(40)]
    engine.stream("alpha", [pa.Table.from_pylist(bids)], time="at")
    sales = [{"k": k, "at": 2} for k in range(0, 7, 2)]
    engine.stream("beta", [pa.Table.from_pylist(sales)], time="at")
    query = query_of(
        engine,
        "SELECT k, v FROM alpha WINDOW(RANGE 3) WHERE NOT EXISTS "
        "(SELECT 1 FROM beta WINDOW(RANGE 2) WHERE beta.k = alpha.k)",
    )
    staged = stage_plans([query.job.plan])
    feeds = {name: engine._sources.feed(engine.catalog.lookup(name)) for name in ("alpha", "beta")}
    ticks = Retold(staged, tmp_path.as_uri(), 2, monkeypatch)
    found = []
    for number, batch in enumerate(native_batches(staged, feeds)):
        found += ticks.tick(number, *batch)
    as_table = query._output(pl.concat(found), "valid_from", "valid_to")
    assert multiset(as_table) == multiset(query.collect())


class Retold(Ticks):
    """Every task runs twice, and its rows for one of the partitions are those of the second."""

    def _work(self, task, partition, tables, turn):  # type: ignore[no-untyped-def]
        first = list(super()._work(task, partition, tables, False))
        second = list(super()._work(task, partition, tables[::-1], True))
        self._attempt = 0
        yield from first
        self._attempt = 1
        yield from second

    def _sort_out(self, table, partition, level, moving, found):  # type: ignore[no-untyped-def]
        tag = table.column(TAG)[0].as_py()
        passing = tag > 0 and self.staged.edge(tag).made_at != level
        if self._attempt and (passing or tag <= 0):
            return  # results and rows that pass by count once
        target: dict[int, list[pa.Table]] = {p: [] for p in range(self.partitions)}
        super()._sort_out(table, partition, level, target, found)
        for p, tables in target.items():
            if passing or p == self._attempt:
                moving[p] += tables
