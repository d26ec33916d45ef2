"""The disk of this machine, and what was asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tidemill.store import LocalDisk, Part

Operation = tuple[str, ...]


class RecordingDisk(LocalDisk):
    """The disk of this machine, which remembers what was asked of it."""

    def __init__(self) -> None:
        self.operations: list[tuple[Operation, bytes]] = []

    def _note(self, *operation: str, content: bytes = b"") -> None:
        self.operations.append((operation, content))

    def write(self, path: str, parts: Sequence[Part], private: bool = True) -> int:
        size = super().write(path, parts, private)
        self._note("write", path, content=Path(path).read_bytes())
        return size

    def sync(self, paths: Sequence[str]) -> None:
        super().sync(paths)
        for path in paths:
            self._note("sync", path)

    def sync_folder(self, path: str) -> None:
        super().sync_folder(path)
        self._note("sync_folder", path)

    def rename(self, old: str, new: str) -> None:
        super().rename(old, new)
        self._note("rename", old, new)

    def unlink(self, path: str) -> None:
        super().unlink(path)
        self._note("unlink", path)

    def make_folder(self, path: str, private: bool = True) -> list[str]:
        parents = super().make_folder(path, private)
        if parents:
            self._note("make_folder", path)
        return parents

    def remove_folder(self, path: str) -> None:
        super().remove_folder(path)
        self._note("remove_folder", path)
