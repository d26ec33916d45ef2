"""A table outside that others change, as tests play it."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pyarrow as pa

from tidemill.algebra.schema import Field, Schema
from tidemill.catalog import SourceInfo
from tidemill.connectors.change_source import INSTANT, OPERATION
from tidemill.errors import ExecutionError

SCHEMA = Schema.of(k=pa.int64(), note=pa.string())
CHANGES = Schema((*SCHEMA, Field(OPERATION, pa.int8()), Field(INSTANT, pa.int64())))
NOTES = [None, "", "ä", "水 🌊"]


class Script:
    """Changes that happen one after the other; a position is the number of those before it.

    The table is out of reach once (`fails`), or for longer (`is_down`).
    """

    def __init__(self, random: Random, rows: int, length: int = 60) -> None:
        self.script = [_change(random, 1) for _ in range(rows)]
        self.script += [_change(random, random.choice([1, -1])) for _ in range(length)]
        self._happened = rows
        self.fails = self.is_down = False

    @property
    def more(self) -> bool:
        return self._happened < len(self.script)

    @property
    def now(self) -> Counter[Any]:
        """The rows that are there, each as often as it is there."""
        rows: Counter[Any] = Counter()
        for row, sign in self.script[: self._happened]:
            rows[row] = max(0, rows[row] + sign)
        return +rows

    def happen(self, changes: int) -> None:
        self._happened = min(len(self.script), self._happened + changes)

    def content(self) -> tuple[pa.Table, str]:
        self._check()
        rows = [(row, 1) for row in self.now.elements()]
        return _table(rows).select(SCHEMA.names), str(self._happened)

    def changes(self, position: str) -> tuple[pa.Table, str]:
        self._check()
        return _table(self.script[int(position) : self._happened]), str(self._happened)

    def _check(self) -> None:
        if self.fails or self.is_down:
            self.fails = False
            raise ExecutionError("the table is out of reach", help="try again later")


def changes_of(random: Random, count: int, sign: int) -> pa.Table:
    return _table([_change(random, sign) for _ in range(count)])


def _change(random: Random, sign: int) -> tuple[Any, int]:
    return (random.choice([None, 0, 1, 2]), random.choice(NOTES)), sign


def _table(changes: list[tuple[Any, int]]) -> pa.Table:
    rows = [(*row, sign, None) for row, sign in changes]
    columns = list(zip(*rows, strict=True)) or [()] * len(CHANGES)
    types = CHANGES.types
    arrays = [pa.array(c, t) for c, t in zip(columns, types, strict=True)]
    return pa.table(arrays, schema=CHANGES.to_arrow())


def open_source(info: SourceInfo) -> Script:
    """The table that SOURCE played(seed => ...) stands for."""
    return Script(Random(int(str(info.options["seed"]))), rows=5)
