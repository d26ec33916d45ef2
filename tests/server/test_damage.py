"""Damage of any file of a server's folder is harmless or told with its name, and never silent."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.server.lives import gone_on, make_folder
from tests.store.test_damage import damaged, names_the_file
from tidemill import TidemillError
from tidemill.engine.folders import verify


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("damage") / "folder"
    make_folder(path)
    return path


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What it says when nothing is damaged."""
    path = tmp_path_factory.mktemp("whole") / "folder"
    make_folder(path)
    return gone_on(path)


@pytest.mark.parametrize("block", range(6))
def test_damage_is_harmless_or_told(
    folder: Path, wanted: dict[str, Any], block: int, tmp_path: Path
) -> None:
    for seed in range(12 * block, 12 * block + 12):
        target = tmp_path / str(seed)
        file, kind = damaged(folder, target, Random(seed))
        what = f"seed {seed}: {kind} {file.relative_to(target)}"
        is_found = bool(verify(target).damages)
        found = _gone_on_or_error(target)
        if isinstance(found, TidemillError):
            assert names_the_file(found, file), f"{what}: {found}"
            assert is_found, f"{what}: `tidemill verify` does not find it"
        else:
            assert found == wanted, what


def _gone_on_or_error(folder: Path) -> dict[str, Any] | TidemillError:
    try:
        return gone_on(folder)
    except TidemillError as error:
        return error
