"""A checkpoint: what a query needs to go on after a stop, and who may use it."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

import polars as pl
import pyarrow as pa
from pyarrow import fs

from tidemill.errors import ExecutionError

_NOTHING = fs.FileType.NotFound

FORMAT = 1
"""Raised when state written by an older version can no longer be read."""


class Checkpoint:
    """A folder with the state of one query, by URI or path."""

    def __init__(self, location: str) -> None:
        self.uri = location if "://" in location else Path(location).absolute().as_uri()
        self._filesystem, self._folder = fs.FileSystem.from_uri(self.uri)
        self._lock: IO[str] | None = None

    def partitions(self, wanted: int) -> int:
        """The number of partitions of the state that is there; without any, what is wanted."""
        if self._filesystem.get_file_info(f"{self._folder}/manifest.json").type == _NOTHING:
            return wanted
        return int(json.loads(self.read("manifest.json"))["partitions"])

    def open(self, plan: str, partitions: int) -> int:
        """Take the checkpoint for a plan; the number of partitions that its state has."""
        self._take()
        try:
            return self._opened(plan, partitions)
        except BaseException:
            self.close()
            raise

    def _opened(self, plan: str, partitions: int) -> int:
        wanted = _manifest(plan, partitions)
        path = f"{self._folder}/manifest.json"
        if self._filesystem.get_file_info(path).type == _NOTHING:
            self.write("manifest.json", json.dumps(wanted, indent=1))
            return partitions
        found = json.loads(self.read("manifest.json"))
        self._check(found, wanted)
        return int(found["partitions"])

    def identity(self) -> str:
        """A name that no other checkpoint has or had, not even one in the same folder."""
        if "identity" not in self.names("."):
            self.write("identity", uuid4().hex)
        return self.read("identity")

    def close(self) -> None:
        """Let others use the checkpoint."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def read(self, name: str) -> str:
        with self._filesystem.open_input_file(f"{self._folder}/{name}") as file:
            return bytes(file.read()).decode()

    def read_table(self, name: str) -> pa.Table:
        with self._filesystem.open_input_file(f"{self._folder}/{name}") as file:
            return pa.ipc.open_file(file).read_all()

    def write(self, name: str, text: str) -> None:
        """Write a file so that it is there whole or not at all."""
        self._write(name, text.encode())

    def write_table(self, name: str, table: pa.Table) -> None:
        """Write a table with its metadata, whole or not at all."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        self._write(name, sink.getvalue())

    def _write(self, name: str, data: bytes | pa.Buffer) -> None:
        path = f"{self._folder}/{name}"
        folder, base = os.path.split(path)
        self._filesystem.create_dir(folder, recursive=True)
        temporary = f"{folder}/.{base}.temporary"  # Spark does not look at such names
        with self._filesystem.open_output_stream(temporary) as stream:
            stream.write(data)
        self._filesystem.move(temporary, path)

    def make(self, folder: str) -> None:
        """Make a folder, if it is not there."""
        self._filesystem.create_dir(f"{self._folder}/{folder}", recursive=True)

    def remove(self, name: str) -> None:
        """Delete a file, if it is there."""
        path = f"{self._folder}/{name}"
        if self._filesystem.get_file_info(path).type != fs.FileType.NotFound:
            self._filesystem.delete_file(path)

    def names(self, folder: str) -> list[str]:
        """The files of a folder of the checkpoint."""
        selector = fs.FileSelector(f"{self._folder}/{folder}", allow_not_found=True)
        return [info.base_name for info in self._filesystem.get_file_info(selector)]

    def last(self, folder: str) -> int:
        """The largest number that a file of a folder is named by; -1 if there is none."""
        stems = (name.split(".")[0] for name in self.names(folder))
        return max((int(stem) for stem in stems if stem.isdigit()), default=-1)

    def _take(self) -> None:
        """Refuse a second user. (Only folders of this machine can be locked.)"""
        if not self.uri.startswith("file:"):
            return
        os.makedirs(self._folder, exist_ok=True)
        lock = open(f"{self._folder}/lock", "w")  # noqa: SIM115 (kept open while it is held)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            raise ExecutionError(
                f"the checkpoint {self.uri} is in use by another query",
                help="stop that query first, or choose another checkpoint",
            ) from error
        self._lock = lock

    def _check(self, found: dict[str, Any], wanted: dict[str, Any]) -> None:
        for key, label in _COMPARED.items():
            if found.get(key) != wanted[key]:
                raise ExecutionError(
                    f"the checkpoint {self.uri} belongs to another {label}:\n"
                    f"it has\n{_indented(found.get(key))}\nnot\n{_indented(wanted[key])}",
                    help="choose another checkpoint, or delete this one to start anew",
                )


_COMPARED = {"format": "version of Tidemill", "polars": "version of Polars", "plan": "query"}


def _manifest(plan: str, partitions: int) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "polars": pl.__version__,
        "plan": plan,
        "partitions": partitions,
    }


def _indented(value: Any) -> str:
    return "\n".join(f"  {line}" for line in str(value).splitlines())
