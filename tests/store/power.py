"""A disk that loses power: what was not synced may be lost, torn, or there after all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tidemill.store import LocalDisk, Part

Operation = tuple[str, ...]


@dataclass
class _File:
    """What was written, and whether it is known to last."""

    content: bytes
    is_synced: bool = False

    def after(self, random: Random) -> bytes:
        """What a power cut leaves of it."""
        if self.is_synced:
            return self.content
        cut = random.randrange(len(self.content) + 1)
        torn = [self.content[:cut], b"", self.content[:cut] + bytes(len(self.content) - cut)]
        return random.choice([self.content, *torn])


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


Change = tuple[str, str, "_File | None"]
"""What happens to names in a folder: `set` a file, or take it from another name; `cut` one."""


@dataclass
class _Folder:
    """Names as they are, and as they last; changes last in their order."""

    now: dict[str, _File] = field(default_factory=dict)
    lasting: dict[str, _File] = field(default_factory=dict)
    pending: list[Change] = field(default_factory=list)

    def change(self, kind: str, name: str, file: _File | None = None) -> None:
        _apply(self.now, (kind, name, file))
        self.pending.append((kind, name, file))

    def sync(self) -> None:
        for change in self.pending:
            _apply(self.lasting, change)
        self.pending = []

    def after(self, random: Random) -> dict[str, _File]:
        names = dict(self.lasting)
        for change in self.pending[: random.randrange(len(self.pending) + 1)]:
            _apply(names, change)
        return names


def _apply(names: dict[str, _File], change: Change) -> None:
    kind, name, file = change
    if kind == "cut":
        names.pop(name, None)
    else:
        assert file is not None
        for old in [known for known, each in names.items() if each is file]:
            del names[old]
        names[name] = file


def power_cut(disk: RecordingDisk, count: int, root: Path, target: Path, random: Random) -> None:
    """Make a folder that may be left if the power goes after so many operations."""
    folders: dict[str, _Folder] = {}

    def at(path: str) -> tuple[_Folder, str]:
        folder, _, name = path.rpartition("/")
        return folders.setdefault(folder, _Folder()), name

    for (kind, path, *rest), content in disk.operations[:count]:
        folder, name = at(path)
        match kind:
            case "write":
                folder.change("set", name, _File(content))
            case "sync":
                folder.now[name].is_synced = True
            case "sync_folder":
                folders.setdefault(path, _Folder()).sync()
            case "rename":
                folder.change("set", at(rest[0])[1], folder.now[name])
            case "unlink":
                folder.change("cut", name)
            case "remove_folder":
                for inside, each in folders.items():
                    if inside == path or inside.startswith(f"{path}/"):
                        for known in random.sample(sorted(each.now), len(each.now)):
                            each.change("cut", known)
    target.mkdir()
    for inside, folder in folders.items():
        if inside != str(root) and not inside.startswith(f"{root}/"):
            continue
        place = target / Path(inside).relative_to(root)
        place.mkdir(parents=True, exist_ok=True)
        for name, file in folder.after(random).items():
            (place / name).write_bytes(file.after(random))
