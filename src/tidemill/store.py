"""One durable folder: what a run needs to go on after a stop, on any file system of Arrow.

Every file is there whole or not at all: it is written under another name and renamed. Names are
relative to the folder, with `/` between their parts; names of folders and files that begin with a
dot are nobody's business.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO
from uuid import uuid4

import pyarrow as pa
from pyarrow import fs

from tidemill.errors import ExecutionError

Part = bytes | memoryview
"""A piece of a file."""

_TEMPORARY = ".temporary"


class Store:
    """A folder by URI or path; tasks on other machines open it by the same `uri`.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(folder)
    ...     size = store.put("ticks/7", b"seven")
    ...     store.names("ticks"), store.get("ticks/7")
    (['7'], b'seven')
    """

    def __init__(self, location: str) -> None:
        self.uri = location if "://" in location else Path(location).absolute().as_uri()
        self._filesystem, self._folder = fs.FileSystem.from_uri(self.uri)
        self._made: set[str] = set()
        self._lock: IO[str] | None = None
        self.is_temporary = False

    def __reduce__(self) -> tuple[type[Store], tuple[str]]:
        """Elsewhere, the same folder; the lock and its end stay with who has made it."""
        return Store, (self.uri,)

    @staticmethod
    def temporary() -> Store:
        """A folder on this machine that goes with whoever closes it."""
        store = Store(tempfile.mkdtemp(prefix="tidemill-"))
        store.is_temporary = True
        return store

    @property
    def is_local(self) -> bool:
        """Whether the folder is one of this machine, whose files can be mapped into memory."""
        return isinstance(self._filesystem, fs.LocalFileSystem)

    def lock(self) -> None:
        """Refuse a second user. (Only folders of this machine can be locked.)"""
        if not self.is_local or self._lock is not None:
            return
        os.makedirs(self._folder, exist_ok=True)
        lock = open(f"{self._folder}/lock", "w")  # noqa: SIM115 (kept open while it is held)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            raise ExecutionError(
                f"the checkpoint {self.uri} is in use by another run",
                help="stop that run first, or choose another checkpoint",
            ) from error
        self._lock = lock

    def close(self) -> None:
        """Let others use the folder; a temporary one is deleted."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None
        if self.is_temporary:
            shutil.rmtree(self._folder, ignore_errors=True)

    def path(self, name: str) -> str:
        """Where a file is, as Arrow's file system and tasks on this machine know it."""
        return f"{self._folder}/{name}"

    def exists(self, name: str) -> bool:
        return bool(self._filesystem.get_file_info(self.path(name)).type != fs.FileType.NotFound)

    def size(self, name: str) -> int:
        """The bytes of a file; 0 if there is none."""
        return int(self._filesystem.get_file_info(self.path(name)).size or 0)

    def names(self, folder: str = ".") -> list[str]:
        """The files and folders in a folder, in the order of their names."""
        selector = fs.FileSelector(self.path(folder), allow_not_found=True)
        found = (info.base_name for info in self._filesystem.get_file_info(selector))
        return sorted(name for name in found if not name.startswith("."))

    def get(self, name: str) -> bytes:
        with self._filesystem.open_input_file(self.path(name)) as file:
            return bytes(file.read())

    def mapped(self, name: str) -> bytearray | mmap.mmap:
        """The bytes of a file in memory that may be changed; the file does not change with it."""
        if not self.is_local:
            return bytearray(self.get(name))
        with open(self.path(name), "rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)

    def buffer(self, name: str) -> pa.Buffer:
        """The bytes of a file, which stay where they are if they are on this machine."""
        if self.is_local:
            return pa.memory_map(self.path(name)).read_buffer()
        with self._filesystem.open_input_file(self.path(name)) as file:
            return file.read_buffer()

    def get_table(self, name: str) -> pa.Table:
        """A table with its metadata."""
        if self.is_local:
            return pa.ipc.open_file(pa.memory_map(self.path(name))).read_all()
        with self._filesystem.open_input_file(self.path(name)) as file:
            return pa.ipc.open_file(file).read_all()

    def put(self, name: str, *parts: Part) -> int:
        """Write a file, perhaps over an old one; its size."""
        path = self.path(name)
        folder, base = os.path.split(path)
        self._make(folder)
        # Two attempts of a task may write at the same time.
        temporary = f"{folder}/.{base}.{uuid4().hex}{_TEMPORARY}"
        try:
            size = self._write(temporary, parts)
            self._filesystem.move(temporary, path)
        except BaseException:
            self._discard(temporary)  # a full disk gets no fuller
            raise
        return size

    def put_table(self, name: str, table: pa.Table) -> int:
        """Write a table with its metadata, as a file of Arrow."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        return self.put(name, memoryview(sink.getvalue()))

    def remove(self, name: str) -> None:
        """Delete a file, if it is there."""
        self._discard(self.path(name))

    def remove_folder(self, name: str) -> None:
        """Delete a folder with all that is in it, if it is there."""
        self._made = {made for made in self._made if not made.startswith(self.path(name))}
        if self.exists(name):
            self._filesystem.delete_dir(self.path(name))

    def make(self, folder: str) -> str:
        """Make a folder, if it is not there; where it is."""
        self._make(self.path(folder))
        return self.path(folder)

    def _make(self, folder: str) -> None:
        if folder not in self._made:
            self._filesystem.create_dir(folder, recursive=True)
            self._made.add(folder)

    def _write(self, path: str, parts: Iterable[Part]) -> int:
        if self.is_local:
            with open(path, "wb") as local:
                return sum(local.write(part) for part in parts)
        with self._filesystem.open_output_stream(path) as stream:
            for part in parts:
                stream.write(part)
            return int(stream.tell())

    def _discard(self, path: str) -> None:
        if self._filesystem.get_file_info(path).type != fs.FileType.NotFound:
            self._filesystem.delete_file(path)
