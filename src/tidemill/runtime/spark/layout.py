"""How rows of different kinds travel in one DataFrame.

Rows of all edges share the same columns: a tag that tells the edge, the validity, and slots. A
slot has a type; each edge puts its columns into slots of their types, so that the rows are no
wider than those of the widest edge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl
import pyarrow as pa

from tidemill.algebra.schema import Schema
from tidemill.algebra.types import name_of
from tidemill.timeline import VALID_FROM, VALID_TO

TAG, PARTITION, NOTE = "tag", "partition", "note"


@dataclass(frozen=True)
class Layout:
    """The slots, in order: a name and a type."""

    slots: tuple[tuple[str, pa.DataType], ...]

    @staticmethod
    def of(schemas: Iterable[Schema]) -> Layout:
        """Enough slots for any one of the schemas."""
        needed: Counter[pa.DataType] = Counter()
        for schema in schemas:
            needed |= Counter(schema.types)
        types = sorted(needed.elements(), key=str)
        return Layout(tuple((f"c{number}", kind) for number, kind in enumerate(types)))

    def places(self, schema: Schema) -> dict[str, str]:
        """The slot of each column."""
        free = list(self.slots)
        places = {}
        for field in schema:
            slot = next(slot for slot in free if slot[1] == field.type)
            free.remove(slot)
            places[field.name] = slot[0]
        return places

    @property
    def arrow(self) -> pa.Schema:
        """The columns of rows that a stage has made: also where they are, and messages."""
        fixed = [(TAG, pa.int32()), (PARTITION, pa.int32())]
        validity = [(VALID_FROM, pa.int64()), (VALID_TO, pa.int64())]
        return pa.schema([*fixed, *validity, *self.slots, (NOTE, pa.string())])

    @property
    def spark_slots(self) -> list[tuple[str, str]]:
        """The slots with the names of their types in Spark."""
        return [(name, spark_type(kind)) for name, kind in self.slots]

    @property
    def ddl(self) -> str:
        """The columns of rows that a stage has made, as Spark declares them."""
        fixed = f"{TAG} INT, {PARTITION} INT, {VALID_FROM} BIGINT, {VALID_TO} BIGINT"
        slots = "".join(f", {name} {kind}" for name, kind in self.spark_slots)
        return f"{fixed}{slots}, {NOTE} STRING"

    def unpack(self, table: pa.Table, schema: Schema) -> pl.DataFrame:
        """The rows of one edge under their own column names."""
        places = self.places(schema)
        names = [*places.values(), VALID_FROM, VALID_TO]
        columns = [table.column(name) for name in names]
        target = [*schema.types, pa.int64(), pa.int64()]
        cast = [column.cast(kind) for column, kind in zip(columns, target, strict=True)]
        return pl.DataFrame(pa.table(dict(zip([*places, VALID_FROM, VALID_TO], cast, strict=True))))

    def pack(self, batch: pl.DataFrame, schema: Schema, tag: int, partition: int) -> pa.Table:
        """Rows of one edge in the common columns."""
        by_slot = {slot: name for name, slot in self.places(schema).items()}
        rows = batch.to_arrow()
        count = rows.num_rows
        columns: list[pa.ChunkedArray | pa.Array] = [
            pa.repeat(pa.scalar(tag, pa.int32()), count),
            pa.repeat(pa.scalar(partition, pa.int32()), count),
            rows.column(VALID_FROM),
            rows.column(VALID_TO),
        ]
        for slot, kind in self.slots:
            own = by_slot.get(slot)
            columns.append(pa.nulls(count, kind) if own is None else rows.column(own).cast(kind))
        columns.append(pa.nulls(count, pa.string()))
        return pa.table(columns, schema=self.arrow)

    def passed_on(self, table: pa.Table, partition: int) -> pa.Table:
        """Rows that are on their way to a later stage, as if this one had made them."""
        count = table.num_rows
        given = set(table.column_names)
        columns = [
            pa.repeat(pa.scalar(partition, pa.int32()), count)
            if field.name == PARTITION
            else table.column(field.name)
            if field.name in given
            else pa.nulls(count, field.type)
            for field in self.arrow
        ]
        return pa.table(columns, schema=self.arrow)

    def note(self, tag: int, partition: int, text: str) -> pa.Table:
        """A row that only carries a message."""
        row = {TAG: tag, PARTITION: partition, VALID_FROM: 0, VALID_TO: 0, NOTE: text}
        return pa.Table.from_pylist([row], schema=self.arrow)


def spark_type(kind: pa.DataType) -> str:
    """The name of a type in Spark; timestamps have no zone inside the engine."""
    return name_of(kind).replace("TIMESTAMP", "TIMESTAMP_NTZ")
