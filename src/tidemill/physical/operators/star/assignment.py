"""Rows of a stream on their way to the partition of all that they can meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
import pyarrow as pa

from tidemill.algebra.schema import Field, Schema
from tidemill.physical.facts import PacedBy, Partitioning, RowValidity
from tidemill.physical.mechanisms.keys import KeyTable, key_table, key_values
from tidemill.physical.operator import Exec, Operator, SameMeaningExec, Waiting, payload
from tidemill.physical.operators.star.components import divided
from tidemill.timeline import OPEN_END, VALID_FROM, VALID_TO

Columns = tuple[str, ...]


@dataclass(frozen=True)
class AssignPartitionExec(SameMeaningExec):
    """Give rows of stream `number` of a star the number of their partition; others are left out.

    Every task finds the same numbers, from the whole relation.
    """

    stream: Exec
    relation: Exec
    number: int
    stream_keys: tuple[Columns, ...]
    relation_keys: tuple[Columns, ...]
    partitions: int

    together = Partitioning.OWN
    paced_by = PacedBy.OWN

    @property
    def name(self) -> str:
        """The column that is added."""
        return "#partition"

    @cached_property
    def schema(self) -> Schema:
        return Schema((*self.stream.schema, Field(self.name, pa.int32())))

    def details(self) -> str:
        mine, theirs = self.stream_keys[self.number], self.relation_keys[self.number]
        pairs = (f"{one} = {other}" for one, other in zip(mine, theirs, strict=True))
        return f"by=[{', '.join(pairs)}] partitions={self.partitions}"

    def remembers(self, complete: bool) -> tuple[bool, ...]:
        return (not complete, True)

    @cached_property
    def validity(self) -> RowValidity:
        return self.stream.validity

    @property
    def is_whole(self) -> bool:
        return True

    def operator(self) -> Operator:
        return _Assignment(self)


class _Assignment(Operator):
    """Rows wait until the relation is known; later ones pass at once."""

    STATE = ("_waiting", "_facts", "_table", "_filtered")

    def __init__(self, node: AssignPartitionExec) -> None:
        self._node = node
        self._waiting = Waiting(node.stream.schema)
        self._facts: list[pl.DataFrame] = []
        self._table: KeyTable | None = None
        self._filtered = 0

    def step(
        self, inputs: Sequence[pl.DataFrame], watermarks: Sequence[int]
    ) -> tuple[pl.DataFrame, int]:
        batch, facts = inputs
        self._facts.append(payload(facts))
        if self._table is None and watermarks[1] == OPEN_END:
            self._table = self._divide(pl.concat(self._facts))
        # A relation that is divided does not change: what comes after its end is nothing.
        self._facts = self._facts if self._table is None else []
        rows = self._waiting.due(batch, watermarks[1])
        return self._assigned(rows), min(watermarks)

    def _divide(self, relation: pl.DataFrame) -> KeyTable:
        node = self._node
        keys = node.relation_keys
        relation = relation.drop_nulls({name for columns in keys for name in columns})
        parts, _ = divided(relation, keys, node.partitions)
        values = key_values(relation, keys[node.number])
        table = key_table(values)
        slots = table.find_or_add(values)
        table.column("part")[slots] = parts
        return table

    def _assigned(self, rows: pl.DataFrame) -> pl.DataFrame:
        node, parts = self._node, np.zeros(0, dtype=np.int64)
        if self._table is not None:
            slots = self._table.find(key_values(rows, node.stream_keys[node.number]))
            self._filtered += int(np.count_nonzero(slots < 0))
            rows, slots = rows.filter(slots >= 0), slots[slots >= 0]
            parts = self._table.column("part")[slots]
        column = pl.Series(node.name, parts, pl.Int32)
        return rows.with_columns(column).select(*node.schema.names, VALID_FROM, VALID_TO)

    @property
    def state_rows(self) -> int:
        return self._waiting.rows.height + (0 if self._table is None else self._table.live_count)

    @property
    def state_bytes(self) -> int:
        return self._waiting.nbytes + (0 if self._table is None else self._table.nbytes)

    @property
    def measures(self) -> dict[str, float]:
        return {"rows_filtered": float(self._filtered)}
