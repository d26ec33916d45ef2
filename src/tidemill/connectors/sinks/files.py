"""Results as files, written where the rows are, and each of them once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
import pyarrow as pa

from tidemill.connectors.sinks.encoding import Encoding
from tidemill.connectors.sinks.folder import ResultFolder
from tidemill.connectors.sinks.forms import Shape
from tidemill.store import Durability


@dataclass(frozen=True)
class FileWriter:
    """Writes the parts of ticks, in any process.

    >>> import tempfile
    >>> from tidemill.algebra.schema import Schema
    >>> from tidemill.connectors.sinks.forms import FormShape
    >>> rows = pl.DataFrame({"v": [7], "valid_from": [3], "valid_to": [5]})
    >>> shape = FormShape("intervals", Schema.of(v=pa.int64()))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     FileWriter(folder, Encoding("csv"), shape).write(rows, tick=12, part=3)
    'tick=00000012/part-00003.csv'
    """

    path: str
    encoding: Encoding
    shape: Shape
    durability: Durability = "process"

    def write(self, rows: pl.DataFrame, tick: int, part: int) -> str | None:
        """Write a part that has rows, perhaps over what an earlier attempt wrote."""
        return self.put(self.shape(rows), tick, part) if rows.height else None

    def put(self, table: pa.Table, tick: int, part: int) -> str:
        """Write a part; its name below the path."""
        folder = self.folder
        name = f"{folder.of_tick(tick)}/part-{part:05d}{self.encoding.suffix}"
        folder.put(name, self.encoding.encode(table))
        return name

    @property
    def folder(self) -> ResultFolder:
        return ResultFolder(self.path, self.shape.is_whole, self.durability)


@dataclass(frozen=True)
class FileSink:
    """A folder of files in a format, with a folder for each tick, or the newest snapshot."""

    writer: FileWriter

    @property
    def form(self) -> str:
        return self.writer.shape.form

    def finish(self, tick: int, names: Sequence[str]) -> None:
        """Close a tick: what other attempts at it have left is removed."""
        shape = self.writer.shape
        # Without rows, a file says which columns there are.
        kept = names or [self.writer.put(shape.columns.empty_table(), tick, 0)]
        folder = self.writer.folder
        folder.seal(folder.of_tick(tick), kept)
