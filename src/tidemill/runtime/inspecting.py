"""Looking into a checkpoint without running it: its ticks, its queries, and what operators keep."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa

from tidemill.errors import ExecutionError
from tidemill.runtime.codec import AnyFunction
from tidemill.runtime.codec.columns import frame_of
from tidemill.runtime.codec.files import cells_of
from tidemill.runtime.epochs import Epoch, EpochLog
from tidemill.runtime.ticks import Committed, TickLog
from tidemill.store import Store


@dataclass(frozen=True)
class Kept:
    """A column of a state: which operator, by number, keeps it, and under which name."""

    operator: int
    name: str
    kind: str
    rows: int
    nbytes: int
    cell: pa.Array

    def head(self, rows: int) -> pl.DataFrame:
        """The first rows."""
        if pa.types.is_struct(self.cell.values.type):
            return frame_of(self.cell).head(rows)
        return pl.DataFrame({self.name: self.cell.values[:rows].to_pylist()}, strict=False)


@dataclass(frozen=True)
class StateFile:
    """What a partition of a stage has written with a tick: a snapshot, or rows that came."""

    stage: int
    partition: int
    tick: int
    kind: str
    nbytes: int
    operators: tuple[tuple[str, int, int], ...]
    columns: tuple[Kept, ...]


class Checkpoint:
    """A folder with what a run has left."""

    def __init__(self, folder: str) -> None:
        self._store = Store(folder)
        if not self._store.exists("manifest.json"):
            raise ExecutionError(
                f"there is no checkpoint in {folder}",
                help="give the folder that was the `checkpoint` of a run",
            )

    @property
    def manifest(self) -> dict[str, Any]:
        """The format, the number of partitions, and the versions."""
        found: dict[str, Any] = json.loads(self._store.get("manifest.json"))
        return found

    @property
    def done(self) -> Committed:
        """The last tick that is done."""
        return TickLog(self._store, AnyFunction()).last()

    @property
    def epochs(self) -> list[Epoch]:
        """The epochs that are kept."""
        log = EpochLog(self._store, AnyFunction())
        ticks = sorted({int(name.split(".")[0]) for name in self._store.names("epochs")})
        found = [epoch for tick in ticks if (epoch := log.at(tick)) is not None]
        return list({epoch.tick: epoch for epoch in found}.values())

    def states(self, stage: int | None = None, partition: int | None = None) -> Iterator[StateFile]:
        """The files of operators, of all stages and partitions or of one."""
        for level in self._numbers("state", "stage="):
            for number in self._numbers(f"state/stage={level}", "partition="):
                if stage in (None, level) and partition in (None, number):
                    yield from self._files(level, number)

    def _numbers(self, folder: str, prefix: str) -> list[int]:
        names = self._store.names(folder)
        return sorted(int(name.removeprefix(prefix)) for name in names if name.startswith(prefix))

    def _files(self, stage: int, partition: int) -> Iterator[StateFile]:
        folder = f"state/stage={stage}/partition={partition}"
        for name in self._store.names(folder):
            stem, _, kind = name.partition(".")
            if kind not in ("snapshot", "rows"):
                continue
            path = f"{folder}/{name}"
            (root, objects), cells = cells_of(self._store, path)
            columns = tuple(_kept(title, cell) for title, cell in cells)
            operators = _operators(root, objects) if kind == "snapshot" else ()
            size = self._store.size(path)
            yield StateFile(stage, partition, int(stem), kind, size, operators, columns)


def _operators(root: Any, objects: list[Any]) -> tuple[tuple[str, int, int], ...]:
    """The labels of operators, with the rows and bytes that they keep."""
    progress = (objects[pair[1][1][1]][2] for pair in root[1])
    return tuple((each["label"], each["state_rows"], each["state_bytes"]) for each in progress)


def _kept(title: str, cell: pa.Array) -> Kept:
    path = title.partition(" ")[2]
    number, _, name = path.partition(".")
    values = cell.values
    kind = "rows" if pa.types.is_struct(values.type) else str(values.type)
    operator = int(number) if number.isdigit() else -1
    return Kept(operator, name.removeprefix("0."), kind, len(values), values.nbytes, cell)
