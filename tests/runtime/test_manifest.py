"""Who may use a checkpoint, and for what."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tidemill as tm
from tests.checking.sources import opener
from tests.fabrics.answers import query_of
from tidemill.errors import ExecutionError, TidemillError
from tidemill.runtime import manifest
from tidemill.runtime.fabric import InProcess
from tidemill.runtime.manifest import Manifest, identity_of, note_repartitioned, open_manifest
from tidemill.runtime.run import Run
from tidemill.store import Store


def run_in(folder: Path, partitions: int = 2) -> Run:
    return Run(InProcess(partitions), opener({}), Store(str(folder)))


def counts(window: int = 5) -> tm.Query:
    engine = tm.Engine("inprocess")
    engine.stream("s", [{"k": 1, "at": 1}], time="at")
    return query_of(engine, f"SELECT k, COUNT(*) AS n FROM s WINDOW(RANGE {window}) GROUP BY k")


def test_the_state_keeps_its_number_of_partitions(tmp_path: Path) -> None:
    for wanted in (3, 8, 1):
        assert open_manifest(Store(str(tmp_path)), wanted) == Manifest(3)
    note_repartitioned(Store(str(tmp_path)), 5)
    assert open_manifest(Store(str(tmp_path)), 3) == Manifest(5)


def test_other_hashes_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_manifest(Store(str(tmp_path)), 2)
    monkeypatch.setattr(manifest, "hash_version", lambda: "another")
    assert open_manifest(Store(str(tmp_path)), 2) == Manifest(2, rehashes=True)


def test_every_store_has_a_name_of_its_own(tmp_path: Path) -> None:
    stores = [Store(str(tmp_path / name)) for name in ("a", "b")]
    for store in stores:
        open_manifest(store, 1)
    first, second = map(identity_of, stores)
    assert first != second
    assert identity_of(Store(str(tmp_path / "a"))) == first, "whoever opens it"
    assert identity_of(None) != identity_of(None)


def test_another_query(tmp_path: Path) -> None:
    counts().start("memory", checkpoint=str(tmp_path)).await_termination()
    with pytest.raises(TidemillError, match="has another query under the name `q1`") as caught:
        counts(window=6).start("memory", checkpoint=str(tmp_path))
    assert "range=5" in str(caught.value)


def test_another_version(tmp_path: Path) -> None:
    run_in(tmp_path).stop()
    found = json.loads(Store(str(tmp_path)).get("manifest.json"))
    Store(str(tmp_path)).put("manifest.json", json.dumps({**found, "format": "0.0.1"}).encode())
    with pytest.raises(ExecutionError, match="belongs to another version of") as caught:
        run_in(tmp_path)
    assert "0.0.1" in str(caught.value)


def test_one_at_a_time(tmp_path: Path) -> None:
    first = run_in(tmp_path)
    with pytest.raises(ExecutionError, match="in use by another run"):
        run_in(tmp_path)
    first.stop()
    run_in(tmp_path).stop()


def test_who_is_refused_holds_nothing(tmp_path: Path) -> None:
    counts().start("memory", checkpoint=str(tmp_path)).await_termination()
    with pytest.raises(TidemillError):
        counts(window=6).start("memory", checkpoint=str(tmp_path))
    store = Store(str(tmp_path))
    text = store.get("manifest.json")
    store.put("manifest.json", json.dumps({**json.loads(text), "format": 0}).encode())
    with pytest.raises(ExecutionError):
        run_in(tmp_path)
    store.put("manifest.json", text)
    with pytest.raises(TidemillError, match="no source `s`"):
        run_in(tmp_path)
    assert counts().start("memory", checkpoint=str(tmp_path)).await_termination()
