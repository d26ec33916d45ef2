"""A file to which entries are added, and which may end in the middle of one."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tidemill.runtime import blocks

_HEAD = struct.Struct("<QI")
"""How long an entry is, and its checksum."""


class RowLog:
    """Entries on disk in their order; those of a process that was killed are still there.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     log = RowLog(Path(folder, "log"))
    ...     log.add((1, "one"))
    ...     list(RowLog(Path(folder, "log")).entries())
    [(1, 'one')]
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.size = path.stat().st_size if path.exists() else 0

    def add(self, entry: Any) -> None:
        """Add an entry; when this is done, it survives the process."""
        packed = _packed(entry)
        try:
            with self._path.open("ab") as file:
                file.write(packed)
        except OSError:
            os.truncate(self._path, self.size)  # others may follow, once there is room again
            raise
        self.size += len(packed)

    def entries(self) -> Iterator[Any]:
        """All whole entries. What follows them is cut off."""
        if not self._path.exists():
            return
        data, place = self._path.read_bytes(), 0
        while (entry := _entry_at(data, place)) is not None:
            place += _HEAD.size + len(entry)
            yield blocks.load(bytearray(entry))
        if place < len(data):
            os.truncate(self._path, place)
            self.size = place

    def replace(self, entries: Iterable[Any]) -> None:
        """Have these entries instead, or if the process dies meanwhile, still the old ones."""
        fresh = self._path.with_suffix(".new")
        fresh.write_bytes(b"".join(map(_packed, entries)))
        os.replace(fresh, self._path)
        self.size = self._path.stat().st_size

    def remove(self) -> None:
        """Delete the file."""
        self._path.unlink(missing_ok=True)
        self.size = 0


def _packed(entry: Any) -> bytes:
    data = b"".join(blocks.dump(entry))
    return _HEAD.pack(len(data), zlib.crc32(data)) + data


def _entry_at(data: bytes, place: int) -> bytes | None:
    if len(data) < place + _HEAD.size:
        return None
    length, checksum = _HEAD.unpack_from(data, place)
    entry = data[place + _HEAD.size :][:length]
    return entry if len(entry) == length and zlib.crc32(entry) == checksum else None
