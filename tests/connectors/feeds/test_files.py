from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Container
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemill import ExecutionError
from tidemill.algebra.schema import Schema
from tidemill.catalog import SourceInfo
from tidemill.connectors.feeds import FilesFeed, FileSlice, files_feed, read_slice
from tidemill.connectors.feeds import listing as module
from tidemill.errors import DamageError
from tidemill.store import Store


def paths(feed: FilesFeed) -> list[str]:
    return [Path(s.path).name for s in feed.slices(0, feed.poll()) if isinstance(s, FileSlice)]


def put(path: Path, modified: int = 0, text: str = "a\n1\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (modified, modified))
    return path


def test_files_come_by_their_time_then_by_their_path(tmp_path: Path) -> None:
    for name, at in [("c", 1), ("a", 2), ("b", 2), ("d/a", 0)]:
        put(tmp_path / f"{name}.csv", at)
    feed = FilesFeed("s", "csv", str(tmp_path))
    assert paths(feed) == ["a.csv", "c.csv", "a.csv", "b.csv"]
    # What is found later comes later, however old it is.
    put(tmp_path / "old.csv", 0)
    assert paths(feed)[4:] == ["old.csv"]
    assert feed.ended_at is None


def test_hidden_files_and_files_without_bytes_wait(tmp_path: Path) -> None:
    for name in (".a.csv", "_a.csv", "_new/a.csv", ".tmp/b.csv", "sub/_c.csv"):
        put(tmp_path / name)
    empty = put(tmp_path / "empty.csv", text="")
    feed = FilesFeed("s", "csv", str(tmp_path))
    assert feed.poll() == 0
    put(empty)
    assert paths(feed) == ["empty.csv"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.csv", ["a.csv", "b.csv"]),
        ("[a]*", ["a.csv"]),
        ("**/*.csv", ["a.csv", "b.csv", "d.csv"]),
        ("su?", ["d.csv"]),  # a folder stands for what is in it
        ("*", ["a.csv", "b.csv", "d.csv"]),
        ("**", ["a.csv", "b.csv", "d.csv"]),
        ("_h/*.csv", ["e.csv"]),  # who names it wants it
        ("a.csv", ["a.csv"]),
        ("nothing*", []),
    ],
)
def test_patterns(tmp_path: Path, pattern: str, expected: list[str]) -> None:
    for at, name in enumerate(["a.csv", "b.csv", "_c.csv", "sub/d.csv", "_h/e.csv"]):
        put(tmp_path / name, at)
    assert paths(FilesFeed("s", "csv", str(tmp_path / pattern))) == expected


def test_a_name_that_looks_like_a_pattern(tmp_path: Path) -> None:
    put(tmp_path / "a[1].csv")
    put(tmp_path / "a1.csv")
    assert paths(FilesFeed("s", "csv", str(tmp_path / "a[1].csv"))) == ["a[1].csv"]


def test_uris_and_filters(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    put(folder / "a.csv")
    put(folder / "a.txt")
    feed = FilesFeed("s", "csv", folder.as_uri(), {"pathGlobFilter": "*.csv"})
    assert paths(feed) == ["a.csv"]
    (slice,) = feed.slices(0, 1)
    assert read_slice(slice, Schema.of(a=pa.int64()), ["a"], "s").to_pylist() == [{"a": 1}]


def test_bounded_feeds_have_what_the_first_poll_finds(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "checkpoint"))
    put(tmp_path / "in/a.csv")
    feed = FilesFeed("s", "csv", str(tmp_path / "in"), store=store, bounded=True)
    assert feed.ended_at is None
    assert (feed.poll(), feed.ended_at) == (1, 1)
    put(tmp_path / "in/b.csv")
    assert (feed.poll(), feed.ended_at) == (1, 1)
    again = FilesFeed("s", "csv", str(tmp_path / "in"), store=store, bounded=True)
    assert (again.ended_at, again.poll()) == (1, 1)
    # Without an end, the same files have the same numbers.
    going_on = FilesFeed("s", "csv", str(tmp_path / "in"), store=store)
    assert (paths(going_on), going_on.ended_at) == (["a.csv", "b.csv"], None)


def test_nothing_at_the_path(tmp_path: Path) -> None:
    path = str(tmp_path / "none")
    with pytest.raises(ExecutionError, match=f"no files for `s` at {path}") as caught:
        FilesFeed("s", "csv", path, bounded=True).poll()
    assert caught.value.help == "check the path option"
    feed = FilesFeed("s", "csv", path)
    assert feed.poll() == 0
    put(tmp_path / "none/a.csv")
    assert feed.poll() == 1


def test_patterns_are_local() -> None:
    with pytest.raises(ExecutionError, match="patterns are for paths of this machine"):
        FilesFeed("s", "csv", "s3://bucket/*.csv").poll()


def test_limits(tmp_path: Path) -> None:
    for at in range(7):
        put(tmp_path / f"{at}.csv", at, "x" * 100)

    def stops(**options: int) -> list[int]:
        feed = FilesFeed("s", "csv", str(tmp_path), options)
        feed.poll()
        return [feed.stop_for(start) for start in (0, 5, 7)]

    assert stops() == [7, 7, 7]
    assert stops(MAXFILESPERTRIGGER=3) == [3, 7, 7]
    assert stops(maxBytesPerTrigger=250) == [2, 7, 7]
    assert stops(maxBytesPerTrigger=10) == [1, 6, 7]
    assert stops(maxBytesPerTrigger=250, maxFilesPerTrigger=1) == [1, 6, 7]


def test_a_tick_takes_at_most_a_thousand_files(tmp_path: Path) -> None:
    feed = FilesFeed("s", "csv", str(tmp_path))
    feed._log.add([(f"{number}.csv", 10) for number in range(2500)])
    assert [feed.stop_for(start) for start in (0, 1000, 2000)] == [1000, 2000, 2500]
    feed._log.add([(f"{number}.parquet", 200 << 20) for number in range(4)])
    assert [feed.stop_for(start) for start in (2500, 2502)] == [2502, 2504]


def test_known_files_are_not_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        put(tmp_path / f"{number}.csv")
    feed = FilesFeed("s", "csv", str(tmp_path))
    assert feed.poll() == 20
    looked: list[str] = []
    found = module._found
    monkeypatch.setattr(module, "_found", lambda path: looked.append(path) or found(path))
    put(tmp_path / "new.csv")
    assert feed.poll() == 21
    assert looked == [str(tmp_path / "new.csv")]


def test_a_file_that_is_not_written_down_is_not_handed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "in/a.csv")
    feed = FilesFeed("s", "csv", str(tmp_path / "in"), store=Store(str(tmp_path / "c")))
    put_down: Callable[..., int] = Store.put

    def failing(*_: object) -> int:
        raise OSError("no space left")

    monkeypatch.setattr(Store, "put", failing)
    with pytest.raises(OSError, match="no space left"):
        feed.poll()
    assert feed.slices(0, 1) == []
    monkeypatch.setattr(Store, "put", put_down)
    assert paths(feed) == ["a.csv"]


def test_a_gap_in_the_list_is_noticed(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "c"))
    for number, size in enumerate([4, 1]):
        for each in range(size):
            put(tmp_path / f"in/{number}-{each}.csv")
        FilesFeed("s", "csv", str(tmp_path / "in"), store=store).poll()
    assert store.names("feeds/s/files") == ["000000000000.json", "000000000004.json"]
    store.remove("feeds/s/files/000000000000.json")
    with pytest.raises(DamageError, match=r"/000000000000\.json is damaged: it is missing"):
        FilesFeed("s", "csv", str(tmp_path / "in"), store=store)


def test_the_list_is_in_few_chunks(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    for number in range(300):
        feed = FilesFeed("s", "csv", "nowhere", store=store)
        feed._log.add([(f"{number}.csv", 1)])
    assert len(store.names("feeds/s/files")) <= 9
    assert paths(FilesFeed("s", "csv", "nowhere", store=store)) == [f"{n}.csv" for n in range(300)]


class Crash(Exception):
    """The process ends here."""


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_file_once_and_in_the_same_order_after_any_restart(data: st.DataObject) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        _any_order(data, folder)
    finally:
        shutil.rmtree(folder)


def _any_order(data: st.DataObject, folder: Path) -> None:
    """Files appear, polls and restarts happen, some of them within a write to the store."""
    store = Store(str(folder / "checkpoint"))
    source = folder / "in"
    source.mkdir()

    def start() -> FilesFeed:
        return FilesFeed("s", "csv", str(source), store=store)

    feed, made, seen = start(), set[str](), list[str]()
    for _ in range(data.draw(st.integers(1, 25))):
        step = data.draw(st.sampled_from(["file", "file", "poll", "restart", "crash"]))
        if step == "file":
            name = f"{data.draw(st.integers(0, 99)):02d}.csv"
            put(source / name, data.draw(st.integers(0, 5)))
            made.add(name)
        elif step == "restart":
            feed = start()
        elif step == "crash":
            _poll_and_crash(feed, store, data.draw(st.integers(0, 2)))
            feed = start()
        if step != "file":
            now = paths(feed)
            assert now[: len(seen)] == seen
            seen = now
    assert sorted(paths(start())) == sorted(made)
    assert paths(start())[: len(seen)] == seen


def _poll_and_crash(feed: FilesFeed, store: Store, after: int) -> None:
    """A poll that ends at the write or deletion of this number."""
    left = [after]

    def counted(act: Callable[..., object]) -> Callable[..., object]:
        def acting(*arguments: object) -> object:
            if not left[0]:
                raise Crash
            left[0] -= 1
            return act(*arguments)

        return acting

    store.put, store.remove = counted(store.put), counted(store.remove)  # type: ignore[method-assign]
    try:
        feed.poll()
    except Crash:
        pass
    finally:
        del store.put, store.remove  # type: ignore[method-assign]


def test_sources_by_their_declaration(tmp_path: Path) -> None:
    put(tmp_path / "a.csv")

    def info(format: str, **options: str) -> SourceInfo:
        return SourceInfo("s", Schema.of(a=pa.int64()), format=format, options=options)

    assert paths(files_feed(info("CSV", Path=str(tmp_path)))) == ["a.csv"]
    with pytest.raises(ExecutionError, match="`s` needs the option path") as caught:
        files_feed(info("csv"))
    assert caught.value.help == "as in SOURCE csv(path => 'folder/')"
    message = "`s` cannot be read here: the option lineSep of csv is not known here"
    with pytest.raises(ExecutionError, match=message):
        files_feed(info("csv", path="x", lineSep="|"))
    with pytest.raises(ExecutionError, match="the option mode of json cannot be 'PERMISSIVE' here"):
        files_feed(info("json", path="x", mode="PERMISSIVE"))
    with pytest.raises(ExecutionError, match="the format kafka is not read here, but arrow, csv"):
        files_feed(info("kafka", topic="x"))


def test_a_file_that_two_threads_find_is_one_slice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tick looks for files while a heartbeat does: the file was read twice."""
    put(tmp_path / "a.csv")
    store, real = Store(str(tmp_path / "checkpoint")), module.new_files
    feed = FilesFeed("s", "csv", str(tmp_path / "a.csv"), store=store)

    def slow(path: str, known: Container[str], filter: str | None = None) -> list[module.Found]:
        found = real(path, known, filter)
        time.sleep(0.05)  # for the other thread to look, too
        return found

    monkeypatch.setattr("tidemill.connectors.feeds.files.new_files", slow)
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(lambda _: feed.poll(), range(2))) == [1, 1]
    assert FilesFeed("s", "csv", str(tmp_path / "a.csv"), store=store).poll() == 1
