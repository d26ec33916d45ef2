"""What is where in a durable folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tidemill.errors import TidemillError
from tidemill.store import MARK

CATALOG, GRAPH, RESULTS, RELATIONS = "catalog.sql", "graph", "results", "relations"

ASIDE = ".damaged"
"""The end of the name of what a repair could not mend."""

_UNFRAMED = ("lock", "commit.lock")
_PASSING = ("scratch", "plans")
"""Folders of files that are not needed when a tick is done."""


def is_server(folder: Path) -> bool:
    """Whether it is the folder of a server, and not the checkpoint of a run."""
    return (folder / CATALOG).exists() or (folder / GRAPH).exists()


def refuse_others(folder: Path) -> None:
    """Only folders that Tidemill has made are looked into."""
    if not is_server(folder) and not (folder / "manifest.json").exists():
        help = "name the folder of --checkpoint or of serve --dir"
        raise TidemillError(f"{folder} is not the folder of a run or a server", help=help)


def run_of(folder: Path) -> Path:
    """The checkpoint in a folder."""
    return folder / GRAPH if is_server(folder) else folder


def files_of(folder: Path) -> Iterator[Path]:
    """All files that belong to it, also those that Spark writes for itself."""
    for path, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        yield from (Path(path, name) for name in sorted(names) if not name.startswith("."))


def is_checked(folder: Path, file: Path) -> bool:
    """Whether a file has a checksum that must be right whatever happened."""
    parts = file.relative_to(folder).parts
    if file.name in _UNFRAMED or file.name.endswith(MARK):
        return False
    aside = parts[0].endswith(ASIDE)
    return not aside and not {*_PASSING, "checkpoint"} & set(parts[:-1])
