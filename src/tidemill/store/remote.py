"""Folders on other file systems of Arrow: object stores, HDFS."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

import pyarrow as pa
from pyarrow import fs

from tidemill.store.disk import Part


class RemoteDisk:
    """A file that is closed is durable there: nothing has to be synced."""

    is_local = False

    def __init__(self, filesystem: fs.FileSystem) -> None:
        self._fs = filesystem

    def write(self, path: str, parts: Sequence[Part], private: bool = True) -> int:
        try:
            stream = self._fs.open_output_stream(path)
        except FileNotFoundError:
            self._fs.create_dir(os.path.dirname(path), recursive=True)
            stream = self._fs.open_output_stream(path)
        with stream:
            for part in parts:
                stream.write(part)
            return int(stream.tell())

    def sync(self, paths: Sequence[str]) -> None:
        pass

    def sync_folder(self, path: str) -> None:
        pass

    def stamp(self, path: str) -> int | None:
        return None

    def rename(self, old: str, new: str) -> None:
        self._fs.move(old, new)

    def unlink(self, path: str) -> None:
        with suppress(FileNotFoundError):
            self._fs.delete_file(path)

    def make_folder(self, path: str, private: bool = True) -> list[str]:
        return []  # `write` does it, if it has to be: most have no folders, and asking takes long

    def remove_folder(self, path: str) -> None:
        with suppress(FileNotFoundError):
            self._fs.delete_dir(path)

    def read(self, path: str) -> bytes:
        return bytes(self.buffer(path))

    def buffer(self, path: str) -> pa.Buffer:
        with self._fs.open_input_file(path) as file:
            return file.read_buffer()

    def part(self, path: str, offset: int, size: int) -> pa.Buffer:
        with self._fs.open_input_file(path) as file:
            file.seek(offset)
            return file.read_buffer(size)

    def mapped(self, path: str, size: int) -> bytearray:
        return bytearray(self.buffer(path)[:size])

    def size(self, path: str) -> int | None:
        info = self._fs.get_file_info(path)
        return None if info.type == fs.FileType.NotFound else int(info.size or 0)

    def exists(self, path: str) -> bool:
        return bool(self._fs.get_file_info(path).type != fs.FileType.NotFound)

    def names(self, path: str) -> list[str]:
        selector = fs.FileSelector(path, allow_not_found=True)
        return [os.path.basename(info.path) for info in self._fs.get_file_info(selector)]
