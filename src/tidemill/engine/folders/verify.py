"""Whether a durable folder is intact: every file, and every sequence of files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from tidemill.connectors.feeds import Retained, folder_of
from tidemill.connectors.feeds.file_log import FileLog
from tidemill.engine.folders.places import (
    CATALOG,
    RELATIONS,
    RESULTS,
    files_of,
    is_checked,
    is_server,
    refuse_others,
    run_of,
)
from tidemill.engine.kept import AnswerLog
from tidemill.errors import DamageError
from tidemill.runtime.change_log import FOLDER as CHANGES
from tidemill.runtime.change_log import check_changes
from tidemill.runtime.codec import AnyFunction
from tidemill.runtime.epochs import EpochLog
from tidemill.runtime.relation_log import RelationLog
from tidemill.runtime.state import StageState
from tidemill.runtime.ticks import Committed, TickLog
from tidemill.store import Numbered, Store, unsealed
from tidemill.timeline import OPEN_END


@dataclass(frozen=True)
class Damage:
    """A file that is not as it was written, and what is wrong with it."""

    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


@dataclass
class FoundFile:
    """What a look at a folder has found."""

    files: int = 0
    damages: list[Damage] = field(default_factory=list)

    @contextmanager
    def noting(self, path: Path) -> Iterator[None]:
        """Take note of errors, and continue."""
        try:
            yield
        except DamageError as error:
            self._add(Damage(error.path, error.what))
        except Exception as error:
            self._add(Damage(str(path), f"it cannot be understood: {error}"))

    def _add(self, damage: Damage) -> None:
        if damage.path not in {each.path for each in self.damages}:
            self.damages.append(damage)


def verify(folder: Path) -> FoundFile:
    """Look at everything in the folder of a run or of a server; nothing is changed."""
    refuse_others(folder)
    found = FoundFile()
    run = run_of(folder)
    done = _committed(found, run)
    for file in files_of(folder):
        if is_checked(folder, file) and not _is_unfinished(file, done):
            found.files += 1
            with found.noting(file):
                check_file(file)
    if is_server(folder):
        _check_server(found, folder)
    _check_run(found, run, done)
    return found


def check_file(file: Path) -> None:
    """Refuse a file whose checksum is not right."""
    content = file.read_bytes()
    unsealed(str(file), pa.py_buffer(content))


def _is_unfinished(file: Path, done: Committed | None) -> bool:
    """State of a tick that was not committed may be torn: it is written anew."""
    if done is None or not file.parent.name.startswith("partition="):
        return False
    return int(file.name.split(".")[0]) > done.tick


def _committed(found: FoundFile, run: Path) -> Committed | None:
    done = None
    with found.noting(run / "ticks"):
        done = TickLog(Store(str(run)), AnyFunction()).last()
    return done


def _check_server(found: FoundFile, folder: Path) -> None:
    if not (folder / CATALOG).exists():
        found.damages.append(Damage(str(folder / CATALOG), "it is missing"))
    with found.noting(folder / RESULTS):
        list(AnswerLog(str(folder / RESULTS)).entries())
    store = Store(str(folder))
    for name in store.names(RELATIONS):
        with found.noting(folder / RELATIONS / name):
            RelationLog.at(store, f"{RELATIONS}/{name}").rows()


def _check_run(found: FoundFile, run: Path, done: Committed | None) -> None:
    store = Store(str(run))
    for check in (_check_ticks, _check_state, _check_changes, _check_feeds):
        with found.noting(run):
            check(found, store, done)


def _check_ticks(found: FoundFile, store: Store, done: Committed | None) -> None:
    Numbered(store, "ticks", ".begun", keep_last=True)
    if not store.exists("manifest.json") and set(store.names()) - {"lock", "commit.lock"}:
        raise DamageError(store.path("manifest.json"), "it is missing")
    if done is not None and done.tick < 0 and store.names("state") and not store.names("ticks"):
        raise DamageError(store.path("ticks"), "its files are missing")


def _check_state(found: FoundFile, store: Store, done: Committed | None) -> None:
    if done is None or done.tick < 0:
        return
    epoch = EpochLog(store, AnyFunction()).at(done.tick)
    if epoch is None or epoch.tick != done.epoch:
        raise DamageError(store.path(f"epochs/{done.epoch:012d}.epoch"), "it is missing")
    for stage in epoch.staging.staged.stages:
        for partition in range(epoch.staging.partitions):
            StageState(store, stage.level, partition, "").history(done.tick)


def _check_changes(found: FoundFile, store: Store, done: Committed | None) -> None:
    for name in store.names(CHANGES):
        with found.noting(Path(store.path(f"{CHANGES}/{name}"))):
            check_changes(store, f"{CHANGES}/{name}")


def _check_feeds(found: FoundFile, store: Store, done: Committed | None) -> None:
    for name in store.names("feeds"):
        folder = f"feeds/{name}"
        reads: list[Callable[[], Any]] = [
            lambda at=folder: Numbered(store, f"{at}/pushed", ".arrow"),  # type: ignore[misc]
            lambda at=folder: Numbered(store, f"{at}/spark/batches", ".json", True, True),  # type: ignore[misc]
            lambda at=folder: FileLog(store, f"{at}/files"),  # type: ignore[misc]
        ]
        for read in reads:
            with found.noting(Path(store.path(folder))):
                read()
    for name, known in (done.sources if done is not None else {}).items():
        with found.noting(Path(store.path("feeds"))):
            _check_position(store, name, known)


def _check_position(store: Store, name: str, known: Any) -> None:
    """Slices that ticks are to read next have to be there, and those that are kept for queries."""
    pushed = f"{folder_of(name)}/pushed"
    if "position" not in known or not store.exists(pushed):
        return
    files = Numbered(store, pushed, ".arrow")
    first = files.numbers[0] if files.numbers else files.next
    kept = Retained.load(OPEN_END, known["retained"]).first
    needed = known["position"] if kept is None else kept
    if first > needed or files.next < known["position"]:
        lost = needed if first > needed else known["position"]
        raise DamageError(store.path(files.file(lost)), "it is missing")
