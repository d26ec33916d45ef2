"""A disk in memory that fails as real ones do: power cuts, kills, no space left, read errors.

It is as bad as the protocol of disks allows. What was not synced is lost, torn or there after a
power cut; changes of names in a folder last in their order, those of two folders in any.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from random import Random

import pyarrow as pa

from tests.random.graphs import Crash
from tidemill.store import Part

_SECTOR = 512
_STAMPS = count()


@dataclass(eq=False)
class File:
    """What was written, and whether it is known to last; if not, `before` may come back."""

    content: bytes
    is_synced: bool = False
    before: bytes | None = None

    def cut(self, random: Random) -> None:
        """What a power cut leaves."""
        if not self.is_synced:
            self.content = random.choice([self.content, self.before or b"", self._torn(random)])
        self.is_synced, self.before = True, None

    def _torn(self, random: Random) -> bytes:
        end = random.randrange(len(self.content) + 1)
        if random.random() < 0.5:
            return self.content[:end]
        pieces = [self.content[at : at + _SECTOR] for at in range(0, len(self.content), _SECTOR)]
        return b"".join(p if random.random() < 0.5 else bytes(len(p)) for p in pieces)


Names = dict[str, "File | Folder"]
Change = dict[str, "File | Folder | None"]
"""What names stand for from now on."""


@dataclass(eq=False)
class Folder:
    """Names as they are, as they last, and the changes that do not last yet, in their order."""

    now: Names = field(default_factory=dict)
    lasting: Names = field(default_factory=dict)
    pending: list[Change] = field(default_factory=list)
    stamp: int = field(default_factory=_STAMPS.__next__)

    def change(self, change: Change) -> None:
        self.stamp = next(_STAMPS)
        _apply(self.now, change)
        self.pending.append(change)

    def sync(self) -> None:
        for change in self.pending:
            _apply(self.lasting, change)
        self.pending = []

    def cut(self, random: Random) -> None:
        """What a power cut leaves."""
        some = random.randrange(len(self.pending) + 1)
        for change in self.pending[: random.choice([0, some, len(self.pending)])]:
            _apply(self.lasting, change)
        self.now, self.pending = dict(self.lasting), []
        self.stamp = next(_STAMPS)
        for node in self.now.values():
            node.cut(random)


def _apply(names: Names, change: Change) -> None:
    for name, node in change.items():
        if node is None:
            names.pop(name, None)
        else:
            names[name] = node


class SimulatedDisk:
    """Everything below a `root`, which has to be a real folder: locks are files in it.

    `cut_in` is how many changes are made before the process dies, `cut_at` the number of one of
    all changes with which it does, `full_for` how many writes fail from now on, and
    `unreadable_in` how many files are read before one that cannot be read.
    """

    is_local = True

    def __init__(self, root: str, random: Random, has_stamps: bool = True) -> None:
        self.root = root
        self.has_stamps = has_stamps
        self.random = random
        self.changes = 0
        self.cut_at: int | None = None
        self.cut_in: int | None = None
        self.full_for = 0
        self.unreadable_in: int | None = None
        self.unreadable = ""
        self._top = Folder()
        self._is_gone = self._is_aside = False

    # What goes wrong

    def die(self) -> None:
        """The process is gone; what it has written is still in the memory of the machine."""
        self._is_gone = True

    def cut_power(self) -> None:
        """The machine is gone; what is left now lasts."""
        self._top.cut(self.random)

    def go_on(self) -> None:
        """Another process begins, for which all goes well."""
        self._is_gone = False
        self.heal()

    def heal(self) -> None:
        """From now on nothing goes wrong."""
        self.full_for, self.cut_in = 0, None
        self.can_read()

    def can_read(self) -> None:
        """From now on all can be read."""
        self.unreadable_in, self.unreadable = None, ""

    @contextmanager
    def aside(self, random: Random) -> Iterator[None]:
        """What others do meanwhile: it is not counted, and all goes well with it."""
        before, self.random, self._is_aside = self.random, random, True
        try:
            yield
        finally:
            self.random, self._is_aside = before, False

    def _changes(self) -> bool:
        """Whether a change is made; a process that is gone makes none."""
        if self._is_gone or self._is_aside:
            return not self._is_gone
        self.changes += 1
        self.cut_in = None if self.cut_in is None else self.cut_in - 1
        if self.cut_in == -1 or self.changes == self.cut_at:
            self._is_gone = True
            raise Crash
        return True

    def _needs_space(self, path: str) -> None:
        if self.full_for > 0 and not self._is_gone and not self._is_aside:
            self.full_for -= 1
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    def _reads(self, path: str) -> None:
        if self._is_aside:
            return
        if self.unreadable_in is not None:
            self.unreadable_in -= 1
            if self.unreadable_in < 0:
                self.unreadable, self.unreadable_in = path, None
        if path == self.unreadable:
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    # What a store asks for

    def write(self, path: str, parts: Sequence[Part], private: bool = True) -> int:
        content = b"".join(parts)
        if self._is_gone:
            return len(content)
        folder, name = self._place(path)
        old = folder.now.get(name)
        before = old.content if isinstance(old, File) else None
        try:
            self._changes()
            self._needs_space(path)
        except BaseException:
            part = content[: self.random.randrange(len(content) + 1)]
            folder.change({name: File(part, before=before)})
            raise
        folder.change({name: File(content, before=before)})
        return len(content)

    def sync(self, paths: Sequence[str]) -> None:
        for path in self.random.sample(list(paths), len(paths)):
            if self._changes():
                self._file(path).is_synced = True

    def sync_folder(self, path: str) -> None:
        if self._changes():
            self._folder(path).sync()

    def stamp(self, path: str) -> int | None:
        # What a process asks that is gone does not matter: its folders may never have been made.
        return self._folder(path).stamp if self.has_stamps and not self._is_gone else None

    def rename(self, old: str, new: str) -> None:
        if self._changes():
            folder, name = self._place(old)
            target, other = self._place(new)
            assert folder is target, "only names within a folder change"
            folder.change({other: self._file(old), name: None})

    def unlink(self, path: str) -> None:
        if self.exists(path) and self._changes():
            folder, name = self._place(path)
            folder.change({name: None})

    def make_folder(self, path: str, private: bool = True) -> list[str]:
        made, folder, at = [], self._top, self.root
        for name in self._parts(path):
            if name not in folder.now:
                if not self._changes():
                    return made
                self._needs_space(path)
                folder.change({name: Folder()})
                made.append(at)
            found = folder.now[name]
            assert isinstance(found, Folder)
            folder, at = found, f"{at}/{name}"
        return made

    def remove_folder(self, path: str) -> None:
        found = self._find(path)
        if isinstance(found, Folder) and not self._is_gone:
            for name in self.random.sample(sorted(found.now), len(found.now)):
                if isinstance(found.now[name], Folder):
                    self.remove_folder(f"{path}/{name}")
                elif self._changes():
                    found.change({name: None})
            folder, name = self._place(path)
            if self._changes():
                folder.change({name: None})

    def read(self, path: str) -> bytes:
        self._reads(path)
        return self._file(path).content

    def buffer(self, path: str) -> pa.Buffer:
        # In memory of Arrow's: see `tidemill.runtime.parcels`.
        sink = pa.BufferOutputStream()
        sink.write(self.read(path))
        return sink.getvalue()

    def part(self, path: str, offset: int, size: int) -> pa.Buffer:
        return self.buffer(path).slice(offset, size)

    def mapped(self, path: str, size: int) -> bytearray:
        return bytearray(self.read(path)[:size])

    def size(self, path: str) -> int | None:
        found = self._find(path)
        return len(found.content) if isinstance(found, File) else None

    def exists(self, path: str) -> bool:
        return self._find(path) is not None

    def names(self, path: str) -> list[str]:
        found = self._find(path)
        return sorted(found.now) if isinstance(found, Folder) else []

    # Where things are

    def _parts(self, path: str) -> list[str]:
        assert path.startswith(self.root), f"{path} is not on this disk"
        return [part for part in path[len(self.root) :].split("/") if part not in ("", ".")]

    def _find(self, path: str) -> File | Folder | None:
        node: File | Folder | None = self._top
        for part in self._parts(path):
            node = node.now.get(part) if isinstance(node, Folder) else None
        return node

    def _file(self, path: str) -> File:
        found = self._find(path)
        if not isinstance(found, File):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return found

    def _folder(self, path: str) -> Folder:
        found = self._find(path)
        if not isinstance(found, Folder):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return found

    def _place(self, path: str) -> tuple[Folder, str]:
        above, _, name = path.rpartition("/")
        return self._folder(above), name
