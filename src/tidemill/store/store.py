"""One durable folder: what a run needs to go on after a stop, on any file system of Arrow.

Every file is there whole or not at all: it is written under another name, and renamed. It ends
with a checksum that is looked at whenever it is read. Names are relative to the folder, with `/`
between their parts; names of folders and files that begin with a dot are nobody's business.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import IO, Literal, get_args
from uuid import uuid4

import pyarrow as pa
from pyarrow import fs

from tidemill.errors import ExecutionError, TidemillError
from tidemill.store.disk import Disk, Part, local_disk
from tidemill.store.frames import TRAILER, damage_told, sealed, unsealed, whole_file
from tidemill.store.remote import RemoteDisk

Durability = Literal["machine", "process"]
"""What acknowledged rows and committed ticks survive."""

DURABILITIES: tuple[Durability, ...] = get_args(Durability)

MARK = ".last"
"""Files that are empty: their names say it all."""

_TEMPORARY = ".temporary"

_SYNCED: dict[str, int] = {}
"""Folders that this process has synced, with their stamps before that."""


def durability_of(text: str) -> Durability:
    """A durability, as users write it."""
    for known in DURABILITIES:
        if text == known:
            return known
    raise TidemillError(f"there is no durability `{text}`", help=f"{' or '.join(DURABILITIES)}")


class Store:
    """A folder by URI or path; tasks on other machines open it by the same `uri`.

    With the durability `machine`, a file survives the machine when `put` returns; or, if it is
    synced `later`, when `flush` does, and nothing is deleted before. A `plain` store is for files
    that others read: they have no checksum, and the modes that are usual.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(folder)
    ...     size = store.put("ticks/7", b"seven")
    ...     store.names("ticks"), store.get("ticks/7")
    (['7'], b'seven')
    """

    def __init__(
        self,
        location: str,
        durability: Durability = "process",
        is_temporary: bool = False,
        plain: bool = False,
    ) -> None:
        self.uri = location if "://" in location else Path(location).absolute().as_uri()
        filesystem, self._folder = fs.FileSystem.from_uri(self.uri)
        is_local = isinstance(filesystem, fs.LocalFileSystem)
        self._disk: Disk = local_disk() if is_local else RemoteDisk(filesystem)
        self.durability = durability
        self.is_temporary = is_temporary
        self._plain = plain
        self._is_own = True
        self._made: set[str] = set()
        self._lock: IO[str] | None = None
        self._syncing = RLock()
        self._unsynced: dict[str, None] = {}
        self._doomed: dict[str, None] = {}

    def __reduce__(self) -> tuple[object, ...]:
        """Elsewhere, the same folder; the lock and its end stay with who has made it."""
        return _elsewhere, (type(self), self.uri, self.durability, self.is_temporary, self._plain)

    @staticmethod
    def temporary() -> Store:
        """A folder on this machine that goes with whoever closes it."""
        return Store(tempfile.mkdtemp(prefix="tidemill-"), is_temporary=True)

    @property
    def is_local(self) -> bool:
        """Whether the folder is one of this machine, whose files can be mapped into memory."""
        return self._disk.is_local

    @property
    def _syncs(self) -> bool:
        return self.durability == "machine" and not self.is_temporary

    def lock(self, user: str = "run") -> None:
        """Refuse a second user. (Only folders of this machine can be locked.)"""
        if not self.is_local or self._lock is not None:
            return
        self._make(self._folder)
        handle = os.open(f"{self._folder}/lock", os.O_WRONLY | os.O_CREAT, 0o600)
        lock = open(handle, "w")  # noqa: SIM115 (kept open while it is held)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            raise ExecutionError(
                f"the folder {self._folder} is in use by another {user}",
                help=f"stop that {user} first, or choose another folder",
            ) from error
        self._lock = lock

    @contextmanager
    def committing(self) -> Iterator[None]:
        """Whoever copies the folder waits; or whoever commits does, for a moment."""
        if not self.is_local or self.is_temporary:
            yield
            return
        handle = os.open(self.path("commit.lock"), os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def close(self) -> None:
        """Let others use the folder; a temporary one is deleted."""
        if self._is_own and self.is_temporary:
            self._disk.remove_folder(self._folder)
        elif self._is_own:
            self.flush()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def path(self, name: str) -> str:
        """Where a file is, as Arrow's file system and tasks on this machine know it."""
        return f"{self._folder}/{name}"

    def exists(self, name: str) -> bool:
        return self.path(name) not in self._doomed and self._disk.exists(self.path(name))

    def size(self, name: str) -> int:
        """The bytes of the content of a file; 0 if there is none."""
        size = self._disk.size(self.path(name)) or 0
        return size if self._plain else max(0, size - TRAILER)

    def names(self, folder: str = ".") -> list[str]:
        """The files and folders in a folder, in the order of their names."""
        path = self.path(folder)
        found = (name for name in self._disk.names(path) if not name.startswith("."))
        return sorted(name for name in found if f"{path}/{name}" not in self._doomed)

    # Reading

    def get(self, name: str) -> bytes:
        return bytes(self.buffer(name))

    def buffer(self, name: str) -> pa.Buffer:
        """The content of a file, which stays where it is if it is on this machine."""
        path = self.path(name)
        found = whole_file(self._disk, path)
        return found if self._plain else unsealed(path, found)

    def part(self, name: str, offset: int, size: int) -> pa.Buffer:
        """Some bytes of a scratch file, which has no checksum."""
        with damage_told(self.path(name)):
            return self._disk.part(self.path(name), offset, size)

    def mapped(self, name: str, size: int | None = None) -> bytearray | mmap.mmap:
        """The content of a file in memory that may be changed; the file does not change with it.

        Whoever knows its `size` has looked at the checksum.
        """
        size = self.buffer(name).size if size is None else size
        with damage_told(self.path(name)):
            return self._disk.mapped(self.path(name), size)

    def get_table(self, name: str) -> pa.Table:
        """A table with its metadata."""
        return pa.ipc.open_file(pa.BufferReader(self.buffer(name))).read_all()

    # Writing

    def put(
        self,
        name: str,
        *parts: Part,
        later: bool = False,
        scratch: bool = False,
        mark: tuple[str | None, str] | None = None,
    ) -> int:
        """Write a file, perhaps over an old one; the size of its content.

        One that is synced `later` must have a new name, or one that nobody counts on. Nobody needs
        `scratch` after a crash. A `mark` is renamed with the file.
        """
        path = self.path(name)
        folder, base = os.path.split(path)
        self._make(folder)
        # Two attempts of a task may write at the same time.
        temporary = f"{folder}/.{base}.{uuid4().hex}{_TEMPORARY}"
        syncs = self._syncs and not scratch
        try:
            size = self._write(temporary, path, parts, checked=not scratch)
            if syncs and not later:
                self._disk.sync([temporary])
            self._disk.rename(temporary, path)
        except BaseException:
            self._disk.unlink(temporary)  # a full disk gets no fuller
            raise
        self._doomed.pop(path, None)
        if mark is not None:
            self.move_mark(*mark)
        if syncs and later:
            self._unsynced[path] = None
        elif syncs:
            self._disk.sync_folder(folder)
        return size

    def put_table(self, name: str, table: pa.Table, later: bool = False) -> int:
        """Write a table with its metadata, as a file of Arrow."""
        return self.put(name, memoryview(ipc_file(table)), later=later)

    def move_mark(self, old: str | None, new: str) -> None:
        """Rename a mark, or make one."""
        if old is None:
            self._disk.write(self.path(new), [])
        else:
            self._disk.rename(self.path(old), self.path(new))

    def flush(self) -> None:
        """What was written before survives the machine now; what was to be deleted is."""
        with self._syncing:
            unsynced, doomed = list(self._unsynced), list(self._doomed)
            self._disk.sync([path for path in unsynced if self._disk.exists(path)])
            for folder in dict.fromkeys(map(os.path.dirname, unsynced)):
                if self._disk.exists(folder):
                    self._disk.sync_folder(folder)
            for path in unsynced:
                self._unsynced.pop(path, None)
            for path in doomed:
                if path in self._doomed:  # nobody has written it anew
                    self._disk.unlink(path)
                    self._doomed.pop(path, None)

    def settle(self) -> None:
        """The same for a task elsewhere; here, whoever commits the tick does it for all."""
        if not self._is_own:
            self.flush()

    def remove(self, name: str) -> None:
        """Delete a file, if it is there; but not before what was written is synced."""
        if self._unsynced:
            self._doomed[self.path(name)] = None
        else:
            self._disk.unlink(self.path(name))

    def remove_folder(self, name: str) -> None:
        """Delete a folder with all that is in it, if it is there."""
        gone = f"{self.path(name)}/"
        self._made = {made for made in self._made if not f"{made}/".startswith(gone)}
        self._unsynced = {p: None for p in self._unsynced if not p.startswith(gone)}
        self._disk.remove_folder(self.path(name))

    def make(self, folder: str) -> str:
        """Make a folder, if it is not there; where it is."""
        self._make(self.path(folder))
        return self.path(folder)

    def _make(self, folder: str) -> None:
        if folder in self._made:
            return
        made = self._disk.make_folder(folder, private=not self._plain)
        if self._syncs:
            for parent in dict.fromkeys(made):
                self._disk.sync_folder(parent)
            # Those that were there, too: who made them may have been killed before the sync.
            for parent in self._above(folder):
                if parent not in made:
                    self._hold(parent)
        self._made.add(folder)

    def _hold(self, folder: str) -> None:
        """Sync a folder, unless this process has and nothing in it has changed since.

        On Spark, every task has a store of its own, in processes that go on.
        """
        stamp = self._disk.stamp(folder)
        if stamp is None or _SYNCED.get(folder) != stamp:
            self._disk.sync_folder(folder)
            _SYNCED.pop(folder, None)
            if stamp is not None:
                _SYNCED[folder] = stamp

    def _above(self, folder: str) -> Iterator[str]:
        """The folders above one, up to the one that the store is in."""
        while folder.startswith(self._folder):
            folder = os.path.dirname(folder)
            yield folder

    def hold(self, folder: str) -> None:
        """The names that are found in a folder last: who wrote them may have been killed before."""
        if self._syncs and self._disk.exists(self.path(folder)):
            self._make(self.path(folder))
            self._disk.sync_folder(self.path(folder))

    def _write(self, temporary: str, path: str, parts: Iterable[Part], checked: bool) -> int:
        if self._plain:
            return self._disk.write(temporary, [*parts], private=False)
        depth = path.removeprefix(f"{self._folder}/").count("/") + 1
        end = sealed(path, parts, checked and not self.is_temporary, depth)
        return self._disk.write(temporary, [*parts, end]) - TRAILER


def _elsewhere(
    kind: type[Store], uri: str, durability: Durability, is_temporary: bool, plain: bool
) -> Store:
    store = kind(uri, durability, is_temporary, plain)
    store._is_own = False
    return store


def ipc_file(table: pa.Table) -> pa.Buffer:
    """A table as the bytes of a file of Arrow."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()
