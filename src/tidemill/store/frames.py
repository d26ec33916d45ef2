"""The last bytes of every file: its length, a checksum, and the version of the format.

They are behind the content, so that a file that is mapped into memory begins with it. The checksum
covers the name of the file as well, with the folders of the store above it: a file in the place of
another one is damage, too. How many folders these are is written down, for whoever reads a file
need not know the store, and the store may move.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pyarrow as pa

from tidemill.errors import DamageError
from tidemill.store.disk import Disk, Part

VERSION = 1
"""Of the format of files; what is in them has a version of its own, in the manifest."""

_FIELDS = struct.Struct("<QIHH")
_END = struct.Struct("<I4s")
_MAGIC = b"tide"
TRAILER = _FIELDS.size + _END.size
"""Bytes."""

_UNCHECKED = 1
"""For files that nobody needs after a crash."""

_DEPTH_AT = 8
"""The bits of the flags from which on they tell how many parts of the path are covered."""

_DEEPEST = 255


def sealed(path: str, parts: Iterable[Part], checked: bool, depth: int = 1) -> bytes:
    """What has to follow these parts; `depth` is how many parts of the path are the store's own.

    >>> sealed("a/b", [b"some", b"thing"], checked=True)[-4:]
    b'tide'
    """
    length = checksum = 0
    for part in parts:
        view = memoryview(part).cast("B") if len(part) else b""
        length += len(view)
        if checked:
            checksum = zlib.crc32(view, checksum)
    flags = (0 if checked else _UNCHECKED) | min(depth, _DEEPEST) << _DEPTH_AT
    return _sealed(path, length, checksum, flags)


def _sealed(path: str, length: int, checksum: int, flags: int) -> bytes:
    fields = _FIELDS.pack(length, checksum, VERSION, flags)
    depth = flags >> _DEPTH_AT or 1  # files were sealed with their own name alone
    name = "/".join(path.split("/")[-depth:]).encode()
    return fields + _END.pack(zlib.crc32(name, zlib.crc32(fields)), _MAGIC)


def length_of(path: str, trailer: bytes, size: int) -> int:
    """The length of the content of a file that has this size and ends with these bytes."""
    return _read(path, trailer, size)[0]


def whole_file(disk: Disk, path: str) -> pa.Buffer:
    """All bytes of a file that has to be there."""
    with damage_told(path):
        return disk.buffer(path)


@contextmanager
def damage_told(path: str) -> Iterator[None]:
    """A file that has to be there and cannot be read is damage, and reported with its name."""
    try:
        yield
    except FileNotFoundError:
        raise DamageError(path, "it is missing") from None
    except OSError as error:
        raise DamageError(path, f"it cannot be read: {error}") from error


def unsealed(path: str, file: pa.Buffer) -> pa.Buffer:
    """The content of a file, which is as it was written."""
    trailer = file[max(0, file.size - TRAILER) :].to_pybytes()
    length, checksum, flags = _read(path, trailer, file.size)
    content = file[:length]
    if not flags & _UNCHECKED and zlib.crc32(content) != checksum:
        raise DamageError(path, "its content is not what was written (the checksum differs)")
    return content


def _read(path: str, trailer: bytes, size: int) -> tuple[int, int, int]:
    if not size:
        raise DamageError(path, "it is empty")
    if len(trailer) < TRAILER or not trailer.endswith(_MAGIC):
        raise DamageError(path, "its end is missing")
    length, checksum, version, flags = _FIELDS.unpack_from(trailer)
    if trailer != _sealed(path, length, checksum, flags) and version == VERSION:
        raise DamageError(path, "its last bytes are not what was written")
    if version != VERSION:
        raise DamageError(path, f"it has the format {version}, and this version reads {VERSION}")
    if length + TRAILER != size:
        raise DamageError(path, f"it has {size} bytes, not {length + TRAILER}")
    return length, checksum, flags
