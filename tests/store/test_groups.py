"""Many clients, few syncs."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pyarrow as pa
import pytest

from tests.store.recording import RecordingDisk
from tidemill.algebra.schema import Schema
from tidemill.connectors.feeds import PushedFeed
from tidemill.store import GroupCommit, LocalDisk, Store, using


def test_who_comes_meanwhile_goes_together() -> None:
    going, go = Event(), Event()
    groups: list[Sequence[int]] = []

    def commit(items: Sequence[int]) -> list[int]:
        groups.append(items)
        going.set()
        assert go.wait(10)
        return [-item for item in items]

    group = GroupCommit(commit)
    with ThreadPoolExecutor(9) as threads:
        first = threads.submit(group.add, 0)
        assert going.wait(10)
        others = [threads.submit(group.add, item) for item in range(1, 9)]
        while len(group._waiting) < 8:  # nobody tells that they wait
            pass
        go.set()
        assert first.result() == 0
        assert [each.result() for each in others] == [-item for item in range(1, 9)]
    assert [len(each) for each in groups] == [1, 8]


def test_a_group_that_fails_fails_for_all_of_it_and_not_for_the_next() -> None:
    def commit(items: Sequence[int]) -> list[int]:
        if 13 in items:
            raise OSError("no space left")
        return list(items)

    group = GroupCommit(commit)
    with pytest.raises(OSError, match="no space left"):
        group.add(13)
    assert group.add(1) == 1


class SlowDisk(RecordingDisk):
    """Syncs take so long that others come meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.wait = Event()

    def sync(self, paths: Sequence[str]) -> None:
        self.wait.wait(0.05)
        super().sync(paths)


def test_pushes_share_syncs(tmp_path: Path) -> None:
    disk = SlowDisk()
    with using(disk):
        feed = PushedFeed("s", Schema.of(at=pa.int64()), Store(str(tmp_path), "machine"))
        with ThreadPoolExecutor(20) as threads:
            list(threads.map(lambda at: feed.push(pa.table({"at": [at]})), range(200)))
    syncs = sum(operation[0] == "sync" for operation, _ in disk.operations)
    assert syncs == feed.poll() < 100
    assert feed.waiting(0) == 200


@pytest.mark.parametrize("durability", ["machine", "process"])
def test_what_is_synced(tmp_path: Path, durability: str) -> None:
    disk = RecordingDisk()
    with using(disk):
        store = Store(str(tmp_path), "machine" if durability == "machine" else "process")
        store.put("state/1", b"now or later", later=True)
        store.remove("state/0")
        store.put("scratch/1", b"nobody needs it", scratch=True)
        store.flush()
    kinds = [operation[0] for operation, _ in disk.operations]
    assert ("sync" in kinds) == (durability == "machine")
    if durability == "machine":
        assert kinds.index("sync") < kinds.index("unlink"), "first the new, then the old goes"
        assert not any("scratch/1" in operation[1] for operation, _ in disk.operations[-3:])


def test_a_temporary_store_is_never_synced() -> None:
    disk = RecordingDisk()
    with using(disk):
        store = Store.temporary()
        store.put("a", b"")
        store.close()
    assert not any(operation[0].startswith("sync") for operation, _ in disk.operations)
    assert LocalDisk().names(store.path("")) == []
