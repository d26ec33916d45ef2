"""What a store asks of a file system. Tests put another one in its place.

A power cut may lose or tear whatever was written and not synced. Renames and deletions in one
folder last in the order in which they were made, as on all file systems with a journal; `sync`
of the folder says that they do.
"""

from __future__ import annotations

import mmap
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from typing import Protocol

import pyarrow as pa

Part = bytes | memoryview
"""A piece of a file."""

_SYNCS = 8
"""Files that are synced at a time: the file system writes them down together."""

_SECOND = 1_000_000_000


class Disk(Protocol):
    """Files by path. Only what was synced survives the machine."""

    is_local: bool

    def write(self, path: str, parts: Sequence[Part], private: bool = True) -> int:
        """A new file with this content; its size."""

    def sync(self, paths: Sequence[str]) -> None:
        """The contents of these files last."""

    def sync_folder(self, path: str) -> None:
        """The names of the files in a folder last."""

    def stamp(self, path: str) -> int | None:
        """A value that changes whenever names in a folder do; None if there is none here."""

    def rename(self, old: str, new: str) -> None:
        """Another name for a file, perhaps in the place of another file."""

    def unlink(self, path: str) -> None:
        """Delete a file, if it is there."""

    def make_folder(self, path: str, private: bool = True) -> list[str]:
        """Make a folder and those above it; those in which one was made."""

    def remove_folder(self, path: str) -> None:
        """Delete a folder with all that is in it, if it is there."""

    def read(self, path: str) -> bytes:
        """The content of a file."""

    def buffer(self, path: str) -> pa.Buffer:
        """The content of a file, which stays where it is if it is on this machine."""

    def part(self, path: str, offset: int, size: int) -> pa.Buffer:
        """Some bytes of a file; the others are not brought here."""

    def mapped(self, path: str, size: int) -> bytearray | mmap.mmap:
        """The first bytes of a file, in memory that may be changed; the file stays as it is."""

    def size(self, path: str) -> int | None:
        """The bytes of a file; None if there is none."""

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder."""

    def names(self, path: str) -> list[str]:
        """The files and folders in a folder; none if it is not there."""


class LocalDisk:
    """The file system of this machine."""

    is_local = True

    def write(self, path: str, parts: Sequence[Part], private: bool = True) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        with open(os.open(path, flags, 0o600 if private else 0o666), "wb") as file:
            return sum(file.write(part) for part in parts)

    def sync(self, paths: Sequence[str]) -> None:
        if len(paths) == 1:
            _sync(paths[0])
        elif paths:
            list(_threads().map(_sync, paths))

    def sync_folder(self, path: str) -> None:
        _sync(path)

    def stamp(self, path: str) -> int | None:
        changed = os.stat(path).st_mtime_ns
        # Two changes at almost the same time may leave one and the same stamp.
        return changed if time.time_ns() - changed > _SECOND else None

    def rename(self, old: str, new: str) -> None:
        os.replace(old, new)

    def unlink(self, path: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(path)

    def make_folder(self, path: str, private: bool = True) -> list[str]:
        missing = []
        while not os.path.isdir(path):
            missing.append(path)
            path = os.path.dirname(path)
        for folder in reversed(missing):
            with suppress(FileExistsError):  # made by another process meanwhile
                os.mkdir(folder, 0o700 if private else 0o777)
        return [os.path.dirname(folder) for folder in missing]

    def remove_folder(self, path: str) -> None:
        shutil.rmtree(path, ignore_errors=True)

    def read(self, path: str) -> bytes:
        with open(path, "rb") as file:
            return file.read()

    def buffer(self, path: str) -> pa.Buffer:
        if not os.path.getsize(path):  # nothing can be mapped of an empty file
            return pa.py_buffer(b"")
        return pa.memory_map(path).read_buffer()

    def part(self, path: str, offset: int, size: int) -> pa.Buffer:
        return self.buffer(path).slice(offset, size)

    def mapped(self, path: str, size: int) -> bytearray | mmap.mmap:
        if not size:
            return bytearray()
        with open(path, "rb") as file:
            return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY)

    def size(self, path: str) -> int | None:
        try:
            return os.stat(path).st_size
        except FileNotFoundError:
            return None

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def names(self, path: str) -> list[str]:
        try:
            return os.listdir(path)
        except FileNotFoundError:
            return []


def _sync(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_SYNCS, thread_name_prefix="tidemill-sync")


_LOCAL: list[Disk] = [LocalDisk()]


def local_disk() -> Disk:
    """The disk of this machine, or what stands for it."""
    return _LOCAL[-1]


@contextmanager
def using(disk: Disk) -> Iterator[None]:
    """Let another disk stand for that of this machine, for stores that are opened meanwhile."""
    _LOCAL.append(disk)
    try:
        yield
    finally:
        _LOCAL.remove(disk)
