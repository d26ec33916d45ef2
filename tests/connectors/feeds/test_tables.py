from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tidemill import ExecutionError
from tidemill.algebra.schema import Schema
from tidemill.connectors.feeds import FileSlice, TablesFeed, read_slice, split
from tidemill.store import Store

SCHEMA = Schema.of(at=pa.int64(), price=pa.float64())


def table(*times: int) -> pa.Table:
    prices = pa.array([at / 2 for at in times], pa.float64())
    return pa.table({"at": pa.array(times, pa.int64()), "price": prices})


TABLES = [table(1, 2), table(), table(3)]


@pytest.mark.parametrize("kept", [False, True])
def test_one_table_per_tick(tmp_path: Path, kept: bool) -> None:
    feed = TablesFeed("s", TABLES, Store(str(tmp_path)) if kept else None)
    assert (feed.poll(), feed.ended_at) == (3, 3)
    assert [feed.stop_for(start) for start in range(4)] == [1, 2, 3, 3]
    for number, expected in enumerate(TABLES):
        (slice,) = feed.slices(number, number + 1)
        assert isinstance(slice, FileSlice) is kept
        assert slice.rows == expected.num_rows
        assert read_slice(slice, SCHEMA, ["at", "price"], "s").equals(expected)


def test_files_are_written_once(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    first = TablesFeed("My s", TABLES, store).slices(0, 3)
    assert store.names("feeds/my%20s/tables") == [f"{n:06d}.arrow" for n in range(3)]
    written = [Path(slice.path).stat().st_mtime_ns for slice in first]  # type: ignore[union-attr]
    again = TablesFeed("My s", [*TABLES, table(4)], store)
    assert again.slices(0, 3) == first
    assert [Path(s.path).stat().st_mtime_ns for s in first] == written  # type: ignore[union-attr]
    assert again.ended_at == 4


def test_other_tables_are_refused(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    TablesFeed("s", TABLES, store).slices(0, 3)
    changed = "table 1 of `s` is not the one that this checkpoint has read"
    with pytest.raises(ExecutionError, match=changed) as caught:
        TablesFeed("s", [table(1, 3), *TABLES[1:]], store)
    assert caught.value.help == "add new tables behind the old ones, or choose another checkpoint"
    with pytest.raises(ExecutionError, match="table 3 of `s` is gone, which this checkpoint has"):
        TablesFeed("s", TABLES[:2], store)


def test_only_tables_that_were_read_are_kept(tmp_path: Path) -> None:
    """Whoever is refused for other reasons leaves nothing behind."""
    store = Store(str(tmp_path))
    TablesFeed("s", TABLES, store).slices(0, 1)
    TablesFeed("s", [*TABLES, table(4)], store)
    assert TablesFeed("s", [TABLES[0], table(7)], store).poll() == 2


def test_nan_is_the_same_as_before(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    odd = pa.table({"at": [1, 2], "price": [float("nan"), None]})
    TablesFeed("s", [odd], store).slices(0, 1)
    assert TablesFeed("s", [odd], store).poll() == 1


def test_large_tables_can_be_shared_by_tasks(tmp_path: Path) -> None:
    large = pa.table({"at": pa.array(range(300_000), pa.int64())})
    feed = TablesFeed("s", [large.combine_chunks()], Store(str(tmp_path)))
    tasks = split(feed.slices(0, 1), 2)
    read = [[read_slice(s, SCHEMA, ["at"], "s").num_rows for s in task] for task in tasks]
    assert sum(map(sum, read)) == 300_000
    assert all(sum(task) for task in read)
