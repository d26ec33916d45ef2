"""The files that were found so far, in the order in which they are read for ever."""

from __future__ import annotations

import json
from typing import Any

from tidemill.errors import DamageError
from tidemill.store import Store

Entry = tuple[str, int]
"""The path and the size of a file."""


class FileLog:
    """A list of files that grows; with a store it is in chunks, named after their first number.

    Each new chunk takes over those before it that are not larger: so there are few of them, and
    each file is written only a few times.
    """

    def __init__(self, store: Store | None, folder: str) -> None:
        self._store = store
        self._folder = folder
        self._chunks: list[int] = []
        self.entries: list[Entry] = []
        self.ended = False
        if store is not None:
            self._load(store)

    def add(self, entries: list[Entry], ended: bool = False) -> None:
        """Write down more files before anyone reads them, and whether they are the last."""
        if self._store is not None:
            self._write(self._store, entries, ended)
        self.entries += entries
        self.ended = ended

    def _write(self, store: Store, entries: list[Entry], ended: bool) -> None:
        start = len(self.entries)
        end, kept = start + len(entries), len(self._chunks)
        while kept and start - self._chunks[kept - 1] <= end - start:
            kept -= 1
            start = self._chunks[kept]
        content = {"files": [*self.entries[start:], *entries], "ended": ended}
        store.put(self._file(start), json.dumps(content).encode())
        old, self._chunks = self._chunks[kept:], [*self._chunks[:kept], start]
        for number in old:
            if number != start:
                store.remove(self._file(number))

    def _load(self, store: Store) -> None:
        for name in store.names(self._folder):
            start = int(name.removesuffix(".json"))
            content: dict[str, Any] = json.loads(store.get(f"{self._folder}/{name}"))
            entries = [(path, size) for path, size in content["files"]]
            if start < len(self.entries):
                # Another chunk took this one over, and the run stopped before it was deleted.
                store.remove(f"{self._folder}/{name}")
                continue
            if start > len(self.entries):
                raise DamageError(store.path(self._file(len(self.entries))), "it is missing")
            self.entries += entries
            self._chunks.append(start)
            self.ended = bool(content["ended"])

    def _file(self, number: int) -> str:
        return f"{self._folder}/{number:012d}.json"
