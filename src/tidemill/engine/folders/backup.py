"""Copies of durable folders, also of those that are in use.

Files never change once they have their name. So a copy is a folder of links to them; a run that
uses the folder waits for the moment that it takes to make them, before its next commit.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tidemill.engine.folders.places import files_of, refuse_others, run_of
from tidemill.engine.folders.verify import verify
from tidemill.errors import TidemillError
from tidemill.store import Store

_PASSING = ("lock", "commit.lock")


def backup(folder: Path, target: Path) -> int:
    """A copy of a folder as it is at one moment; how many files it has."""
    refuse_others(folder)
    _refuse_full(target)
    with Store(str(run_of(folder))).committing():
        # A statement is noted last when it begins something: so it may be missing, but not half.
        files = sorted(files_of(folder), key=lambda file: file.parent != folder)
        count = sum(_link(folder, file, target) for file in files)
    for file in files_of(target):
        _own(file)
    _refuse_damage(target)
    return count


def restore(source: Path, folder: Path) -> int:
    """A folder as it was when the copy was made; how many files it has."""
    refuse_others(source)
    _refuse_full(folder)
    _refuse_damage(source)
    files = list(files_of(source))
    for file in files:
        copy = _place(source, file, folder)
        shutil.copyfile(file, copy)
        _sync(copy)
    return len(files)


def _link(folder: Path, file: Path, target: Path) -> int:
    """What a run has deleted meanwhile, it does not need."""
    if file.name in _PASSING:
        return 0
    place = _place(folder, file, target)
    try:
        os.link(file, place)
    except FileNotFoundError:
        return 0
    except OSError:  # the target is on another disk
        shutil.copyfile(file, place)
    return 1


def _own(file: Path) -> None:
    """Replace a link by a copy: damage to one must not be damage to the other."""
    copy = file.with_name(f".{file.name}.copy")
    with open(os.open(copy, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as sink:
        with file.open("rb") as content:
            shutil.copyfileobj(content, sink)
        sink.flush()
        os.fsync(sink.fileno())
    os.replace(copy, file)


def _place(folder: Path, file: Path, target: Path) -> Path:
    place = target / file.relative_to(folder)
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return place


def _sync(path: Path) -> None:
    for each in (path, path.parent):
        handle = os.open(each, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)


def _refuse_full(target: Path) -> None:
    if target.exists() and any(target.iterdir()):
        help = "name a folder that does not exist"
        raise TidemillError(f"there is something in {target} already", help=help)


def _refuse_damage(folder: Path) -> None:
    if damages := verify(folder).damages:
        help = f"`tidemill verify {folder}` says more; `tidemill repair` may help"
        raise TidemillError(f"{damages[0]} ({len(damages)} damaged in all)", help=help)
