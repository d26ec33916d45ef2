from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tidemill import ExecutionError
from tidemill.algebra.schema import Schema
from tidemill.connectors.feeds import FileSlice, PushedFeed, TableSlice, read_slice
from tidemill.errors import DamageError
from tidemill.store import Part, Store

SCHEMA = Schema.of(item=pa.string(), at=pa.int64())


def rows(*times: int) -> pa.Table:
    return pa.table({"item": [f"i{at}" for at in times], "at": pa.array(times, pa.int64())})


def times(feed: PushedFeed, start: int = 0) -> list[int]:
    slices = feed.slices(start, feed.poll())
    return [
        at
        for slice in slices
        for at in read_slice(slice, SCHEMA, ["at"], "s").column("at").to_pylist()
    ]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "a folder"))


def test_in_memory() -> None:
    feed = PushedFeed("s", SCHEMA)
    assert [feed.push(rows(1, 2)), feed.push(rows(3))] == [0, 1]
    assert feed.poll() == 2
    assert all(isinstance(slice, TableSlice) for slice in feed.slices(0, 2))
    assert times(feed) == [1, 2, 3]
    feed.forget(1)
    assert feed.poll() == 2
    assert times(feed, 1) == [3]
    assert feed.waiting(1) == 1
    assert feed.waiting(2) == 0


def test_every_push_is_there_after_a_restart(store: Store) -> None:
    for number in range(5):
        feed = PushedFeed("s", SCHEMA, store)
        assert feed.poll() == number
        assert times(feed) == list(range(number))
        assert feed.push(rows(number)) == number
    files = [name for name in store.names("feeds/s/pushed") if name.endswith(".arrow")]
    assert files == [f"{n:012d}.arrow" for n in range(5)]


def test_numbers_go_on_when_all_was_forgotten(store: Store) -> None:
    feed = PushedFeed("s", SCHEMA, store)
    for at in range(3):
        feed.push(rows(at))
    feed.forget(3)
    assert store.names("feeds/s/pushed") == ["000000000002.arrow.last"]
    feed = PushedFeed("s", SCHEMA, store)
    assert feed.poll() == 3
    assert feed.push(rows(9)) == 3
    assert times(PushedFeed("s", SCHEMA, store), 3) == [9]


def test_lost_segments_are_noticed(store: Store) -> None:
    feed = PushedFeed("s", SCHEMA, store)
    for at in range(3):
        feed.push(rows(at))
    for name in ("000000000001.arrow", "000000000002.arrow", "000000000002.arrow.last"):
        file = Path(store.path(f"feeds/s/pushed/{name}"))
        whole = file.read_bytes()
        file.unlink()
        with pytest.raises(DamageError, match=f"/{name} is damaged: it is missing"):
            PushedFeed("s", SCHEMA, store)
        file.write_bytes(whole)
    assert times(PushedFeed("s", SCHEMA, store)) == [0, 1, 2]


@pytest.mark.parametrize("kept", [False, True])
def test_closing(store: Store, kept: bool) -> None:
    feed = PushedFeed("s", SCHEMA, store if kept else None)
    feed.push(rows(1))
    assert feed.ended_at is None
    feed.close_input()
    assert feed.ended_at == 1
    with pytest.raises(ExecutionError, match="`s` is closed"):
        feed.push(rows(2))
    if kept:
        assert PushedFeed("s", SCHEMA, store).ended_at == 1


def test_rows_that_wait_in_memory_go_into_the_store(store: Store) -> None:
    PushedFeed("s", SCHEMA, store).push(rows(1))
    feed = PushedFeed("s", SCHEMA)
    feed.push(rows(2))
    feed.push(rows(3))
    feed.attach(store)
    feed.attach(store)  # nothing happens
    assert times(feed) == [1, 2, 3]
    assert all(isinstance(slice, FileSlice) for slice in feed.slices(0, 3))
    feed.push(rows(4))
    feed.close_input()
    again = PushedFeed("s", SCHEMA)
    again.attach(store)
    assert times(again) == [1, 2, 3, 4]
    assert again.ended_at == 4


def test_numbers_stay_in_a_store_that_knows_nothing(store: Store) -> None:
    feed = PushedFeed("s", SCHEMA)
    feed.push(rows(1))
    feed.push(rows(2))
    feed.forget(1)
    feed.close_input()
    feed.attach(store)
    assert (feed.poll(), times(feed, 1), feed.ended_at) == (2, [2], 2)
    assert (PushedFeed("s", SCHEMA, store).poll(), feed.ended_at) == (2, 2)


def test_no_rows_after_the_end_in_the_store(store: Store) -> None:
    PushedFeed("s", SCHEMA, store).close_input()
    feed = PushedFeed("s", SCHEMA)
    feed.push(rows(1))
    with pytest.raises(ExecutionError, match="`s` is closed in file://"):
        feed.attach(store)
    assert times(feed) == [1]


def test_two_stores(store: Store, tmp_path: Path) -> None:
    feed = PushedFeed("s", SCHEMA, store)
    with pytest.raises(ExecutionError, match="`s` is kept in another checkpoint"):
        feed.attach(Store(str(tmp_path / "other")))


def test_rows_stay_when_a_store_goes() -> None:
    store = Store.temporary()
    feed = PushedFeed("s", SCHEMA, store)
    for at in range(4):
        feed.push(rows(at))
    feed.forget(1)
    feed.detach(2)
    store.close()
    assert (feed.poll(), times(feed, 2), feed.waiting(2)) == (4, [2, 3], 2)
    assert feed.push(rows(4)) == 4
    other = Store.temporary()
    feed.attach(other)
    assert times(feed, 2) == [2, 3, 4]
    other.close()


def test_a_failed_attempt_leaves_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    feed = PushedFeed("s", SCHEMA)
    feed.push(rows(1))
    feed.push(rows(2))
    put, calls = Store.put, iter([True, False])

    def failing(self: Store, name: str, *parts: Part, **how: Any) -> int:
        if next(calls, True):
            return put(self, name, *parts, **how)
        raise OSError("no space left")

    monkeypatch.setattr(Store, "put", failing)
    with pytest.raises(OSError, match="no space left"):
        feed.attach(store)
    feed.attach(store)
    assert times(feed) == [1, 2]


@pytest.mark.parametrize("kept", [False, True])
def test_pushes_of_eight_threads(store: Store, kept: bool) -> None:
    feed = PushedFeed("s", SCHEMA, store if kept else None)
    woken: list[int] = []
    feed.wake = lambda: woken.append(1)
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda at: feed.push(rows(at)), range(200)))
    assert len(woken) == 200
    again = PushedFeed("s", SCHEMA, store) if kept else feed
    for number, at in zip(numbers, range(200), strict=True):
        (slice,) = again.slices(number, number + 1)
        assert at in read_slice(slice, SCHEMA, ["at"], "s")["at"].to_pylist()
    assert sorted(times(again)) == list(range(200))
    assert set(numbers) == set(range(again.poll())), "those pushed at the same time share a slice"


def test_an_empty_push_is_no_slice() -> None:
    feed = PushedFeed("s", SCHEMA)
    assert feed.push(rows()) == 0
    assert feed.poll() == 0


def test_a_tick_takes_all_that_waits_within_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    feed = PushedFeed("s", SCHEMA)
    assert feed.stop_for(0) == 0
    for at in range(10):
        feed.push(rows(at))
    assert feed.stop_for(0) == 10
    assert feed.stop_for(4) == 10
    monkeypatch.setattr(
        "tidemill.connectors.feeds.pushed.MOST_BYTES", feed.slices(0, 1)[0].nbytes * 3
    )
    assert [feed.stop_for(start) for start in (0, 3, 9, 10)] == [3, 6, 10, 10]
