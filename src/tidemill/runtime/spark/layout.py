"""How rows of different kinds travel in one DataFrame.

Between two levels, rows of all edges that cross share the same columns: a tag that tells the edge,
the validity, and slots. A slot has a type; each edge puts its columns into slots of their types,
so that the rows are no wider than those of the widest edge. What rows need not say is left out:
every column that travels costs time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl
import pyarrow as pa

from tidemill.algebra.schema import Schema
from tidemill.fragments import Edge, LateRowsExec, Staged
from tidemill.runtime.spark.durations import Duration
from tidemill.runtime.spark.native import PARTITION, native_rows, spark_type
from tidemill.timeline import VALID_FROM, VALID_TO

TAG = "tag"


@dataclass(frozen=True)
class Layout:
    """The slots, in order: a name and a type; and which of the other columns there are."""

    slots: tuple[tuple[str, pa.DataType], ...]
    tagged: bool = True
    placed: bool = False
    ended: bool = True

    @staticmethod
    def of(edges: Sequence[Edge], placed: bool = False, ended: bool = True) -> Layout:
        """Enough slots for any one of the edges; a tag if there are several."""
        needed: Counter[pa.DataType] = Counter()
        for edge in edges:
            needed |= Counter(edge.schema.types)
        types = sorted(needed.elements(), key=str)
        slots = tuple((f"c{number}", kind) for number, kind in enumerate(types))
        return Layout(slots, len(edges) > 1, placed, ended)

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
        """The columns."""
        fixed = [(TAG, pa.int32())] if self.tagged else []
        fixed += [(PARTITION, pa.int32())] if self.placed else []
        ends = [(VALID_TO, pa.int64())] if self.ended else []
        return pa.schema([*fixed, (VALID_FROM, pa.int64()), *ends, *self.slots])

    @property
    def spark_slots(self) -> list[tuple[str, str]]:
        """The slots with the names of their types in Spark."""
        return [(name, spark_type(kind)) for name, kind in self.slots]

    @property
    def ddl(self) -> str:
        """The columns as Spark declares them."""
        return ", ".join(f"{field.name} {spark_type(field.type)}" for field in self.arrow)

    def rows_of(self, table: pa.Table, tag: int) -> pa.Table:
        """The rows of one edge."""
        if not self.tagged:
            return table
        here = pa.compute.equal(table.column(TAG), tag)
        return table.filter(here)

    def unpack(
        self, table: pa.Table, schema: Schema, duration: Duration | None = None
    ) -> pl.DataFrame:
        """The rows of one edge under their own column names; they hold so long, if that is known.

        (Ends are not made with NumPy: its memory belongs to Python, and a thread of Polars that
        lets go of it would wait for the thread that waits for Polars.)
        """
        columns = {name: table.column(slot) for name, slot in self.places(schema).items()}
        columns[VALID_FROM] = table.column(VALID_FROM)
        columns[VALID_TO] = table.column(VALID_FROM if duration is not None else VALID_TO)
        target = [*schema.types, pa.int64(), pa.int64()]
        cast = [column.cast(kind) for column, kind in zip(columns.values(), target, strict=True)]
        rows = pl.DataFrame(pa.table(dict(zip(columns, cast, strict=True))))
        return rows if duration is None else rows.with_columns(duration.end().alias(VALID_TO))

    def pack(self, batch: pl.DataFrame, schema: Schema, tag: int, partition: int) -> pa.Table:
        """Rows of one edge in the common columns."""
        rows = batch.to_arrow()
        columns = {slot: rows.column(name) for name, slot in self.places(schema).items()}
        columns |= {name: rows.column(name) for name in (VALID_FROM, VALID_TO)}
        return self._packed(columns, rows.num_rows, tag, partition)

    def passed_on(self, table: pa.Table, before: Layout, edge: Edge, partition: int) -> pa.Table:
        """Rows of an edge that only crosses a level, from the columns before it to those after."""
        old, new = before.places(edge.schema), self.places(edge.schema)
        columns = {new[name]: table.column(old[name]) for name in edge.schema.names}
        given = (name for name in (VALID_FROM, VALID_TO) if name in table.column_names)
        columns |= {name: table.column(name) for name in given}
        return self._packed(columns, table.num_rows, edge.tag, partition)

    def _packed(
        self, columns: Mapping[str, pa.ChunkedArray], count: int, tag: int, partition: int
    ) -> pa.Table:
        fixed = {TAG: tag, PARTITION: partition}
        return pa.table(
            [
                pa.repeat(pa.scalar(fixed[field.name], field.type), count)
                if field.name in fixed
                else columns[field.name].cast(field.type)
                if field.name in columns
                else pa.nulls(count, field.type)
                for field in self.arrow
            ],
            schema=self.arrow,
        )


def layouts_of(staged: Staged) -> list[Layout]:
    """How rows travel from each level to the next; behind the last, only results do."""
    last = len(staged.stages)
    native = [edge for edge in staged.edges if not edge.made_at]
    # Where rows of streams end follows from their time; others bring their ends.
    ended = any(
        isinstance(edge.producer, LateRowsExec) or native_rows(edge.producer).duration is None
        for edge in native
    )
    return [
        Layout.of(staged.crossing(level), 0 < level < last, ended=level > 0 or ended)
        for level in range(last + 1)
    ]
