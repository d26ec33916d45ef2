"""Sizes of a running graph, as its users set them."""

from __future__ import annotations

import errno
from typing import Any

import pyarrow as pa
import pytest

import tidemill as tm
from tidemill.errors import TidemillError
from tidemill.graph.quality import Granules, SizeRange, SizeSetting
from tidemill.runtime.run import Run

COUNT = "SELECT COUNT(*) AS n FROM bid WINDOW(RANGE MIN {}, MAX {})"


@pytest.fixture
def engine() -> tm.Engine:
    engine = tm.Engine(runtime="inprocess")
    engine.stream("bid", pa.schema({"item": pa.int64(), "at": pa.int64()}), time="at")
    engine.run(every=None)
    return engine


def start(engine: tm.Engine, name: str, sql: str, **options: Any) -> Any:
    query = engine.sql(sql)
    assert query is not None
    return query.start("memory", name=name, **options)


def bring(engine: tm.Engine, begin: int, end: int) -> None:
    engine.push("bid", [{"item": t % 3, "at": t} for t in range(begin, end)])
    engine.graph.tick()


def counts(query: Any) -> dict[int, int]:
    return {
        t: row["n"]
        for row in query.results().to_pylist()
        for t in range(row["valid_from"], row["valid_to"])
    }


@pytest.mark.parametrize(("old", "new"), [(10, 3), (3, 10)])
def test_a_change_shows_after_the_smaller_size_and_is_complete_after_the_larger(
    engine: tm.Engine, old: int, new: int
) -> None:
    query = start(engine, "q", COUNT.format(3, 10))
    engine.graph.adapt({"range of bid": old})
    bring(engine, 0, 20)
    assert engine.graph.adapt({"range of bid": new}) == {"range of bid": (20, new)}
    bring(engine, 20, 40)
    found = counts(query)
    changed = [t for t in range(10, 36) if found[t] != old]
    assert changed[0] == 20 + 3
    # With a row at every instant, the new number is reached an instant before.
    assert next(t for t in range(10, 36) if found[t] == new) == 20 + 10 - 1


def test_a_query_that_is_added_brings_the_size_within_its_bounds(engine: tm.Engine) -> None:
    start(engine, "a", COUNT.format(3, 10))
    bring(engine, 0, 20)
    engine.graph.adapt({"range of bid": 3})
    bring(engine, 20, 40)
    start(engine, "b", COUNT.format(5, 60), partial=True)
    adaptation = engine.graph.adaptation
    assert adaptation.allowed == {"range of bid": SizeRange(5, 10)}
    assert adaptation.sizes == {"range of bid": 5}
    assert adaptation.histories("b")["range of bid"][-1] == SizeSetting(40, 5)
    with pytest.raises(TidemillError, match="not allowed by all queries"):
        engine.graph.adapt({"range of bid": 3})


def test_a_full_disk_delays_the_size_and_keeps_the_query(
    engine: tm.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The graph and its run know the same queries, although the second of two writes fails."""
    start(engine, "a", COUNT.format(3, 10))
    engine.graph.adapt({"range of bid": 3})
    bring(engine, 0, 20)
    written: list[set[str]] = []
    revise = Run.revise

    def full(run: Run, roots: Any, *rest: Any) -> None:
        written.append(set(roots))
        if len(written) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        revise(run, roots, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(Run, "revise", full)
        late = start(engine, "b", COUNT.format(5, 60), partial=True)
    assert written == [{"a", "b"}, {"a", "b"}]
    assert engine.graph.adaptation.sizes == {"range of bid": 3}
    bring(engine, 20, 40)
    assert engine.graph.adaptation.sizes == {"range of bid": 5}
    bring(engine, 40, 60)
    assert [counts(late)[t] for t in (39, 45, 50)] == [3, 5, 5]


def test_a_granule_becomes_finer_at_an_instant_of_the_coarser_one(engine: tm.Engine) -> None:
    start(engine, "q", f"{COUNT.format(3, 10)} GRANULARITY(COARSEST 12, FINEST 2)")
    assert engine.graph.adaptation.allowed["granularity of bid"] == Granules.between(2, 12)
    bring(engine, 0, 7)
    assert engine.graph.adapt({"granularity of bid": 12}) == {"granularity of bid": (7, 12)}
    bring(engine, 7, 14)
    assert engine.graph.adapt({"granularity of bid": 4}) == {"granularity of bid": (24, 4)}


NESTED = "SELECT MAX(n) AS n FROM ISTREAM({}) AS q WINDOW(RANGE MIN 2, MAX 8)"


def test_a_window_above_one_that_changed_is_shared_with_those_that_come(engine: tm.Engine) -> None:
    sql = NESTED.format(COUNT.format(3, 10))
    start(engine, "a", sql)
    bring(engine, 0, 20)
    knobs = set(engine.graph.adaptation.allowed)
    assert len(knobs) == 2
    engine.graph.adapt({"range of bid": 4})
    bring(engine, 20, 30)
    start(engine, "b", sql)
    assert set(engine.graph.adaptation.allowed) == knobs


def test_answers_tell_the_sizes_that_they_were_computed_with(engine: tm.Engine) -> None:
    query = start(engine, "q", COUNT.format(3, 10))
    bring(engine, 0, 20)
    engine.graph.adapt({"range of bid": 3})
    bring(engine, 20, 40)
    old, new = SizeSetting(0, 10), SizeSetting(20, 3)
    assert query.progress.sizes == {"range of bid": (old, new)}
    found = {t: query.settings(t, t + 1)["range of bid"] for t in (19, 20, 28, 29)}
    assert found == {19: [old], 20: [old, new], 28: [old, new], 29: [new]}


def test_histories_do_not_grow_for_ever(engine: tm.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidemill.graph.adaptation.MOST_SETTINGS", 5)
    query = start(engine, "q", COUNT.format(3, 10))
    for n in range(12):
        bring(engine, 10 * n, 10 * n + 10)
        engine.graph.adapt({"range of bid": 3 + n % 7})
    left = query.progress.sizes["range of bid"]
    assert 1 < len(left) <= 6
    assert left[-1] == SizeSetting(120, 3 + 11 % 7)
    # What answers from the watermark on depend on is there.
    assert query.settings(110, 111)["range of bid"][0] in left


def test_parts_whose_size_changes_are_still_the_same(engine: tm.Engine) -> None:
    start(engine, "q", COUNT.format(3, 10))
    seen: list[Any] = []
    engine.graph.subscribe(seen.append)
    bring(engine, 0, 20)
    for number, size in enumerate((3, 5, 9)):
        engine.graph.adapt({"range of bid": 10})
        engine.graph.adapt({"range of bid": size})  # twice between two looks
        bring(engine, 20 + number, 21 + number)
    before, *after = [dict(look) for look in seen]
    windows = [next(n for n in look.values() if n.window is not None) for look in seen]
    assert [window.window for window in windows] == [10, 3, 5, 9]
    for look in after:
        assert look.keys() == before.keys()
        assert [n.inputs for n in look.values()] == [n.inputs for n in before.values()]
    assert all(window.selectivity == 1 for window in windows)
    assert windows[1].rows_in - windows[0].rows_in == 1
