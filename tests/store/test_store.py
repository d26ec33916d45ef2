"""The one durable folder: files are whole, one user at a time, the same from anywhere."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from tidemill.errors import DamageError, ExecutionError
from tidemill.store import Store
from tidemill.store.frames import sealed


def test_files_are_replaced_whole(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "new" / "folder"))
    assert store.put("a/b", b"one", memoryview(b"two")) == 6
    assert store.put("a/b", b"three") == 5
    assert store.get("a/b") == b"three"
    assert bytes(store.mapped("a/b")) == bytes(store.buffer("a/b")) == b"three"
    assert (store.names("a"), store.size("a/b"), store.exists("a/c")) == (["b"], 5, False)


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.put("a", b"old")
    with pytest.raises(TypeError):
        store.put("a", b"new", object())  # type: ignore[arg-type]
    assert store.get("a") == b"old"
    (tmp_path / "b").mkdir()
    with pytest.raises(OSError, match=r"."):
        store.put("b", b"a folder has that name")
    assert not [path for path in tmp_path.iterdir() if "temporary" in path.name and path.is_file()]


def test_tables_keep_their_metadata(tmp_path: Path) -> None:
    store = Store(tmp_path.as_uri())
    table = pa.table({"a": [1, None]}).replace_schema_metadata({"x": "y"})
    store.put_table("t", table)
    found = store.get_table("t")
    assert found.equals(table)
    assert found.schema.metadata == {b"x": b"y"}


def test_one_user_at_a_time(tmp_path: Path) -> None:
    first, second = Store(str(tmp_path)), Store(str(tmp_path))
    first.lock()
    first.lock()  # which is its own
    with pytest.raises(ExecutionError, match="in use by another run"):
        second.lock()
    first.close()
    second.lock()
    second.close()


def test_temporary_folders_go(tmp_path: Path) -> None:
    store = Store.temporary()
    store.put("a", b"")
    folder = Path(store.path("a")).parent
    copy = pickle.loads(pickle.dumps(store))
    copy.close()
    assert folder.exists(), "only who has made it takes it away"
    store.close()
    assert not folder.exists()


def test_removing(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.put("a/b/c", b"1")
    store.put("a/bb", b"2")
    store.remove("a/b/none")
    store.remove_folder("a/b")
    store.remove_folder("a/b")
    assert store.names("a") == ["bb"]
    store.put("a/b/c", b"again")
    assert store.get("a/b/c") == b"again"


def test_a_file_in_the_place_of_another_is_damage(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "here"))
    for stream in ("s", "t"):
        store.put(f"feeds/{stream}/pushed/1.arrow", stream.encode())
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    assert Store(str(tmp_path / "there")).get("feeds/s/pushed/1.arrow") == b"s"
    one, other = (tmp_path / "here/feeds" / stream / "pushed/1.arrow" for stream in ("s", "t"))
    shutil.copy(one, other)
    with pytest.raises(DamageError, match=r"feeds/t/pushed/1\.arrow"):
        store.get("feeds/t/pushed/1.arrow")
    # Older files were sealed with their own name alone.
    one.write_bytes(b"old" + sealed(str(one), [b"old"], checked=True, depth=0))
    assert store.get("feeds/s/pushed/1.arrow") == b"old"
