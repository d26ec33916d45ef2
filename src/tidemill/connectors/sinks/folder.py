"""A folder of results: ticks side by side, or only the newest snapshot.

A tick has a folder of its own, which has its file `_SUCCESS` once it is whole. A snapshot is
written under a name that no whole one has; only when it is whole are the others removed. So there
is a whole one at every moment, and nothing is ever added to it. A tick that is done again after a
crash leaves the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager

import pyarrow as pa
from pyarrow import fs

from tidemill.errors import ExecutionError
from tidemill.store import Durability, Part, Store

_SUCCESS = "_SUCCESS"
_SNAPSHOT = "snapshot="
_SHORT_URI = re.compile(r"[A-Za-z][\w+.-]+:/(?!/)")
"""Hadoop has URIs with one slash."""


def uri_of(path: str) -> str | None:
    """The URI of a path, wherever it is read; None if only Spark can write there.

    >>> uri_of("s3a://bucket/bids"), uri_of("dbfs:/bids")
    (None, None)
    """
    if _SHORT_URI.match(path):
        return None
    try:
        return Store(path).uri
    except (pa.ArrowException, OSError):  # of schemes it does not know, and of libraries it lacks
        return None


class ResultFolder:
    """Where the files of a query are, by path or URI.

    Whoever writes makes one for each tick: what it knows of folders must not be older.
    """

    def __init__(self, path: str, is_whole: bool, durability: Durability = "process") -> None:
        self._store = Store(path, durability, plain=True)
        self._is_whole = is_whole

    def of_tick(self, tick: int) -> str:
        """The name of the folder that a tick is written to."""
        if not self._is_whole:
            return f"tick={tick:08d}"
        # Two spellings of one number: a whole snapshot must stay until the next one is whole.
        usual, other = f"{_SNAPSHOT}{tick:08d}", f"{_SNAPSHOT}0{tick:08d}"
        return other if self._store.exists(f"{usual}/{_SUCCESS}") else usual

    def put(self, name: str, data: Part) -> None:
        """Write a file; it is there whole or not at all."""
        with _telling(self._store.uri):
            self._store.put(name, data)

    def seal(self, folder: str, names: Collection[str]) -> None:
        """Say that these are all files of a folder, and that they are whole."""
        with _telling(self._store.uri):
            for other in self._files(folder):
                if other not in {*names, f"{folder}/{_SUCCESS}"}:
                    self._store.remove(other)
            self._store.put(f"{folder}/{_SUCCESS}", b"")
            if self._is_whole:
                self._remove_others(folder)

    def _remove_others(self, folder: str) -> None:
        for name in self._store.names():
            if name.startswith(_SNAPSHOT) and name != folder:
                self._store.remove_folder(name)

    def _files(self, folder: str) -> list[str]:
        """Also those of writers that died before they could give them a name."""
        filesystem, path = fs.FileSystem.from_uri(self._store.uri)
        found = filesystem.get_file_info(fs.FileSelector(f"{path}/{folder}", allow_not_found=True))
        return [f"{folder}/{info.base_name}" for info in found if info.is_file]


@contextmanager
def _telling(uri: str) -> Iterator[None]:
    """Errors of files as what a user can understand."""
    try:
        yield
    except OSError as error:
        raise ExecutionError(
            f"results cannot be written to {uri}: {error}",
            help="make room or allow writing to it, and start the query again",
        ) from error
