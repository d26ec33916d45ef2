from __future__ import annotations

from pathlib import Path

import pytest

from tidemill.connectors.sinks.folder import ResultFolder, uri_of


def test_paths_and_uris(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert uri_of("x") == (tmp_path / "x").as_uri()
    assert uri_of((tmp_path / "x").as_uri()) == (tmp_path / "x").as_uri()
    assert uri_of("a:b") == (tmp_path / "a:b").as_uri()
    assert uri_of(str(tmp_path)) == tmp_path.as_uri()


@pytest.mark.parametrize("path", ["s3a://bucket/x", "dbfs:/x", "file:/x", "nonsense://x/y"])
def test_where_only_spark_can_write(path: str) -> None:
    assert uri_of(path) is None


def test_only_the_files_named_stay(tmp_path: Path) -> None:
    folder = ResultFolder(str(tmp_path), is_whole=False)
    for name in ("t/a", "t/b", "t/.c.temporary", "other/d"):
        folder.put(name, b"x")
    folder.seal("t", ["t/a"])
    found = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
    assert found == {"t/a", "t/_SUCCESS", "other/d"}


def test_names_of_ticks(tmp_path: Path) -> None:
    assert ResultFolder(str(tmp_path), False).of_tick(12) == "tick=00000012"
    whole = ResultFolder(str(tmp_path), True)
    assert whole.of_tick(12) == "snapshot=00000012"
    whole.seal("snapshot=00000012", [])
    assert whole.of_tick(12) == "snapshot=000000012"
    assert whole.of_tick(13) == "snapshot=00000013"


def test_long_numbers_have_two_spellings_too(tmp_path: Path) -> None:
    whole = ResultFolder(str(tmp_path), True)
    whole.seal("snapshot=123456789", [])
    assert whole.of_tick(123_456_789) == "snapshot=0123456789"
