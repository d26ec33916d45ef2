"""Stores on other file systems than that of this machine: nothing is mapped, locked or synced."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyarrow import fs

from tests.checking.plans import reference_of
from tests.fabrics.simulated import Elsewhere
from tests.runtime.cases import Bounded, make_case
from tidemill.physical.lowering import lower
from tidemill.store import Store, using
from tidemill.store.remote import RemoteDisk
from tidemill.testing import check_result, elements


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with using(RemoteDisk(fs.LocalFileSystem())):
        yield Store(str(tmp_path / "far" / "away"))


def test_files_come_and_go(store: Store) -> None:
    store.remove("a/none")
    store.remove_folder("none")
    assert store.names("a") == []
    store.put("a/b/one", b"1")
    store.put("a/b/one", b"one", b"!", later=True)
    store.flush()
    assert (store.get("a/b/one"), store.size("a/b/one")) == (b"one!", 4)
    assert bytes(store.part("a/b/one", 1, 2)) == b"ne"
    assert store.mapped("a/b/one") == b"one!"
    store.remove("a/b/one")
    assert (store.exists("a/b/one"), store.names("a/b")) == (False, [])
    store.put("a/b/two", b"2")
    store.remove_folder("a")
    assert store.names() == []
    store.put("a/b/two", b"2")
    assert store.names("a") == ["b"]


@pytest.mark.parametrize("seed", range(6))
def test_runs_on_them(seed: int, store: Store) -> None:
    case, plan, functions = make_case("plans", seed)
    sources = case.inputs.sources(store)
    bounded = Bounded(lower(plan, dict(functions)), sources, Elsewhere(2), store)
    try:
        for _ in bounded.ticks():
            pass
        found = [rows.to_arrow() for rows in bounded.rows.ticks.values()]
        rows = [each for table in found for each in elements(table)]
        check_result(rows, reference_of(plan, case.inputs, functions))
    finally:
        bounded.run.stop()
