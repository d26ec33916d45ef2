"""The state of a stage in a partition, on disk.

After every tick a partition writes one file: a snapshot of its operators, or the rows that the
tick brought, from which the operators can be run again. Snapshots are written when half as many
bytes of rows have gathered as a snapshot has, so that writing costs in proportion to what came in.
Files are written under a temporary name and renamed, and named by the tick, so that doing a tick
again changes nothing.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import fs

from tidemill.errors import ExecutionError
from tidemill.runtime import blocks
from tidemill.runtime.spark.news import News

_KEPT_TICKS = 4
"""How long operators stay in the memory of a worker that does not get their partition."""

_CACHE: dict[str, tuple[int, Any]] = {}
"""Operators that this worker still has in memory: the tick they stand at, and they."""


@dataclass(frozen=True)
class Segment:
    """One file: the tick it belongs to, and what it is."""

    tick: int
    kind: str
    path: str


class StateStore:
    """The files of one stage in one partition."""

    def __init__(self, root: str, level: int, partition: int, run: str = "") -> None:
        self._filesystem, base = fs.FileSystem.from_uri(root)
        self._root = base
        self._folder = f"{base}/stage={level}/partition={partition}"
        # What an earlier run left in memory may not be what is on disk now.
        self._key = f"{base}/{run}/{level}/{partition}"

    def cached(self, tick: int) -> tuple[int, Any]:
        """Operators that this worker has, and the tick after which they stood, up to this one.

        They are handed over: if the next tick fails, they must not be used again.
        """
        at, operators = _CACHE.pop(self._key, (-1, None))
        # Other workers have gone on with partitions that were here before. They may come back.
        for key in [k for k, (old, _) in _CACHE.items() if old < tick - _KEPT_TICKS]:
            if key.startswith(self._root):
                del _CACHE[key]
        return (at, operators) if at <= tick else (-1, None)

    def remember(self, tick: int, operators: Any) -> None:
        """Keep operators in memory for the next tick."""
        _CACHE[self._key] = (tick, operators)

    def history(self, tick: int, known: int = -1) -> tuple[Segment | None, list[Segment]]:
        """The newest snapshot up to a tick, and the rows of the ticks after it.

        What was before the tick `known` is not needed.
        """
        segments = [segment for segment in self._segments() if segment.tick <= tick]
        snapshots = [s for s in segments if s.kind == "snapshot" and s.tick > known]
        base = snapshots[-1] if snapshots else None
        start = known if base is None else base.tick
        rows = [s for s in segments if s.kind == "rows" and s.tick > start]
        if [segment.tick for segment in rows] != list(range(start + 1, tick + 1)):
            raise ExecutionError(
                f"the state of tick {tick} is not complete in {self._folder}",
                help="its files were deleted; start anew with another checkpoint",
            )
        return base, rows

    def read_snapshot(self, segment: Segment) -> Any:
        if isinstance(self._filesystem, fs.LocalFileSystem):
            return blocks.load_file(segment.path)
        with self._filesystem.open_input_file(segment.path) as file:
            return blocks.load(bytearray(file.read()))

    def read_rows(self, segment: Segment) -> tuple[pa.Table, dict[str, int], News]:
        """What a tick brought: rows, watermarks, and what operators heard before it."""
        with self._filesystem.open_input_file(segment.path) as file:
            table = pa.ipc.open_file(file).read_all()
        metadata = table.schema.metadata
        watermarks = json.loads(metadata[b"watermarks"])
        news = json.loads(metadata.get(b"news", b"{}"))
        return table, {name: int(mark) for name, mark in watermarks.items()}, news

    def write_snapshot(self, tick: int, state: Any) -> int:
        """Store what the operators remember; the number of bytes."""
        block = blocks.dump(state)
        self._write(f"{tick:012d}.snapshot", block)
        return sum(memoryview(part).nbytes for part in block)

    def write_rows(
        self, tick: int, rows: pa.Table, watermarks: dict[str, int], news: News | None = None
    ) -> int:
        """Store what a tick brought; the number of bytes."""
        facts = {b"watermarks": watermarks, b"news": news or {}}
        metadata = {name: json.dumps(fact).encode() for name, fact in facts.items()}
        sink = pa.BufferOutputStream()
        schema = rows.schema.with_metadata(metadata)
        with pa.ipc.new_file(sink, schema) as writer:
            writer.write_table(rows.replace_schema_metadata(metadata))
        data = sink.getvalue()
        self._write(f"{tick:012d}.rows", [memoryview(data)])
        return int(data.size)

    def write_report(self, tick: int, report: Mapping[str, Any]) -> None:
        """Leave a message for the driver."""
        self._put(f"{tick:012d}.report", [json.dumps(report).encode()])
        old = f"{self._folder}/{tick - _KEPT_TICKS:012d}.report"
        if self._filesystem.get_file_info(old).type != fs.FileType.NotFound:
            self._filesystem.delete_file(old)

    def read_report(self, tick: int) -> dict[str, Any]:
        """The message of a task that is done."""
        with self._filesystem.open_input_file(f"{self._folder}/{tick:012d}.report") as file:
            report: dict[str, Any] = json.loads(bytes(file.read()))
        return report

    def size_since(self, tick: int) -> tuple[int, int]:
        """The bytes of the last snapshot, and of the rows after it."""
        base, rows = self.history(tick)
        infos = self._filesystem.get_file_info([s.path for s in rows])
        snapshot = 0 if base is None else self._filesystem.get_file_info(base.path).size
        return int(snapshot or 0), sum(int(info.size or 0) for info in infos)

    def forget_before(self, tick: int) -> None:
        """Delete files that no tick from here on can need."""
        base, _ = self.history(tick)
        for segment in self._segments():
            if base is not None and segment.tick < base.tick:
                self._filesystem.delete_file(segment.path)

    def _segments(self) -> list[Segment]:
        selector = fs.FileSelector(self._folder, allow_not_found=True)
        found = []
        for info in self._filesystem.get_file_info(selector):
            stem, _, kind = info.base_name.partition(".")
            if kind in ("snapshot", "rows"):
                found.append(Segment(int(stem), kind, info.path))
        return sorted(found, key=lambda segment: segment.tick)

    def _put(self, name: str, parts: Iterable[bytes | memoryview]) -> None:
        """Write a file so that it is there whole or not at all."""
        self._filesystem.create_dir(self._folder, recursive=True)
        # Two attempts of a task may write at the same time.
        temporary = f"{self._folder}/{name}.{uuid.uuid4().hex}.temporary"
        with self._filesystem.open_output_stream(temporary) as stream:
            for part in parts:
                stream.write(part)
        self._filesystem.move(temporary, f"{self._folder}/{name}")

    def _write(self, name: str, parts: Iterable[bytes | memoryview]) -> None:
        self._put(name, parts)
        # A tick that is done again may be stored in another way, and makes later ones obsolete.
        tick = int(name.split(".")[0])
        for segment in self._segments():
            if segment.tick >= tick and not segment.path.endswith(f"/{name}"):
                self._filesystem.delete_file(segment.path)
