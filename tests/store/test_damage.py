"""Damage of any file is harmless or told with its name; never is an answer wrong."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from tests.store.lives import Life, expected, rows_of
from tidemill import TidemillError
from tidemill.engine.folders import backup, repair, restore, verify

PUSHES, MORE = 10, 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a life has left that was killed: rows wait that no tick has taken."""
    path = tmp_path_factory.mktemp("damage") / "folder"
    live(path, 0, PUSHES, ends=True)
    return path


def live(path: Path, first: int, last: int, ends: bool = False) -> Life:
    life = Life(path, "process")
    for number in range(first, last):
        life.push(rows_of(number))
        if number % 3:
            life.tick()
    if ends:
        life.close()
    return life


def answers(path: Path) -> object:
    life = Life(path, "process")
    try:
        life.tick()
        for number in range(PUSHES, PUSHES + MORE):
            life.push(rows_of(number))
            life.tick()
        return life.answers()
    finally:
        life.close()


def answers_or_error(path: Path) -> object:
    try:
        return answers(path)
    except TidemillError as error:
        return error


ALL = [row for number in range(PUSHES + MORE) for row in rows_of(number)]


def damaged(folder: Path, target: Path, random: Random) -> tuple[Path, str]:
    """A copy of a folder in which something is wrong with one file."""
    shutil.copytree(folder, target)
    files = sorted(p for p in target.rglob("*") if p.is_file() and "lock" not in p.name)
    file = random.choice(files)
    content = file.read_bytes()
    kind = random.choice(["flip", "flip", "flip", "cut", "empty", "delete", "another", "longer"])
    match kind:
        case "flip" if content:
            place = random.randrange(len(content))
            flipped = content[place] ^ (1 << random.randrange(8))
            file.write_bytes(content[:place] + bytes([flipped]) + content[place + 1 :])
        case "cut" if content:
            file.write_bytes(content[: random.randrange(len(content))])
        case "empty":
            file.write_bytes(b"")
        case "another":
            file.write_bytes(random.choice(files).read_bytes())
        case "longer":
            file.write_bytes(content + b"\0" * random.randrange(1, 50))
        case _:
            file.unlink()
    return file, kind


def names_the_file(error: TidemillError, file: Path) -> bool:
    """The file, the one that goes with it, or the folder that is not whole without it."""
    folders = ["/".join(pair) for pair in pairwise(file.parts[-4:-1])]
    return any(each in str(error) for each in (file.name.split(".")[0], *folders))


@pytest.mark.parametrize("block", range(8))
def test_damage_is_harmless_or_told(folder: Path, block: int, tmp_path: Path) -> None:
    wanted = expected(ALL)
    for seed in range(20 * block, 20 * block + 20):
        target = tmp_path / str(seed)
        file, kind = damaged(folder, target, Random(seed))
        what = f"seed {seed}: {kind} {file.relative_to(target)}"
        found = answers_or_error(target)
        if isinstance(found, TidemillError):
            assert names_the_file(found, file), f"{what}: {found}"
        else:
            assert found == wanted, what


def test_what_is_whole_goes_on(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "copy")
    assert not verify(tmp_path / "copy").damages
    assert answers(tmp_path / "copy") == expected(ALL)


@pytest.mark.parametrize("block", range(4))
def test_verify_finds_what_a_restart_stumbles_over(
    folder: Path, block: int, tmp_path: Path
) -> None:
    for seed in range(20 * block, 20 * block + 20):
        target = tmp_path / str(seed)
        file, kind = damaged(folder, target, Random(seed))
        found = verify(target).damages
        error = answers_or_error(target)
        if isinstance(error, TidemillError):
            assert found, f"seed {seed}: {kind} {file.relative_to(target)}: {error}"


@pytest.mark.parametrize("block", range(4))
def test_repair_leaves_a_folder_that_goes_on(folder: Path, block: int, tmp_path: Path) -> None:
    for seed in range(20 * block, 20 * block + 20):
        target = tmp_path / str(seed)
        file, kind = damaged(folder, target, Random(seed))
        was_damaged = bool(verify(target).damages)
        told = repair(target)
        assert bool(told) == was_damaged, "it says what was lost"
        assert not verify(target).damages, f"seed {seed}: {kind} {file.relative_to(target)}"
        answers(target)


def test_a_backup_while_it_runs(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "run")
    life = Life(tmp_path / "run", "process")
    life.tick()
    backup(tmp_path / "run", tmp_path / "backup")
    for number in range(PUSHES, PUSHES + MORE):
        life.push(rows_of(number))
        life.tick()
    life.close()
    restore(tmp_path / "backup", tmp_path / "again")
    assert answers(tmp_path / "again") == expected(ALL)
    with pytest.raises(TidemillError, match="something in"):
        restore(tmp_path / "backup", tmp_path / "again")
