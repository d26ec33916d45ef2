"""Functions over the rows around a row: ROW_NUMBER, LAG, sums over a frame (OVER in SQL)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import pyarrow as pa

from tidemill.algebra.aggregates import AggregateCall
from tidemill.algebra.nodes import SortKey, Unary
from tidemill.algebra.schema import Field, Schema

RANKS: Final[dict[str, pa.DataType]] = {
    "ROW_NUMBER": pa.int32(),
    "RANK": pa.int32(),
    "DENSE_RANK": pa.int32(),
    "NTILE": pa.int32(),
    "PERCENT_RANK": pa.float64(),
    "CUME_DIST": pa.float64(),
}
"""Functions of the place of a row in its partition, and their types."""

SHIFTS: Final = ("LAG", "LEAD")
PICKS: Final = ("FIRST_VALUE", "LAST_VALUE", "NTH_VALUE")


@dataclass(frozen=True)
class RowFrame:
    """The rows around a row that a function looks at, in their order.

    `start` and `end` count from the row itself: -1 is one before it, None has no bound. The unit
    is rows, GROUPS of rows with equal sort keys, or for RANGE the value of the sort key.
    """

    unit: str = "RANGE"
    start: int | float | None = None
    end: int | float | None = 0

    def __str__(self) -> str:
        first = "" if self.start is None else f"{self.start}"
        last = "" if self.end is None else f"{self.end}"
        return f"{self.unit.lower()} {first}..{last}"


WHOLE: Final = RowFrame(end=None)
"""All rows of the partition."""


@dataclass(frozen=True)
class OverCall:
    """One function: the column that it fills, the columns that it reads, and its frame.

    `options` are constants: the number of NTILE, LAG and NTH_VALUE. `aggregate` is what it
    computes over the frame, if it is an aggregate.
    """

    name: str
    function: str
    arguments: tuple[str, ...]
    type: pa.DataType
    frame: RowFrame = WHOLE
    options: tuple[Any, ...] = ()
    ignores_nulls: bool = False
    aggregate: AggregateCall | None = None

    def __str__(self) -> str:
        if self.aggregate is not None:
            return f"{self.aggregate}{self._frame}"
        said = ", ".join([*self.arguments, *map(str, self.options)])
        nulls = " IGNORE NULLS" if self.ignores_nulls else ""
        return f"{self.name} := {self.function}({said}){nulls}{self._frame}"

    @property
    def _frame(self) -> str:
        looks = self.aggregate is not None or self.function in PICKS
        return f" {self.frame}" if looks and self.frame != WHOLE else ""


@dataclass(frozen=True)
class OverRows(Unary):
    """Every row with functions of the rows of its partition, at each instant.

    Rows are in the order of the sort keys; ties are ordered by the row, as in TopK.
    """

    partition_by: tuple[str, ...]
    order: tuple[SortKey, ...]
    calls: tuple[OverCall, ...]

    @cached_property
    def schema(self) -> Schema:
        return self.child.schema + self.made

    @cached_property
    def made(self) -> Schema:
        """The columns that it adds."""
        return Schema(tuple(Field(call.name, call.type) for call in self.calls))

    def details(self) -> str:
        by = f"by=[{', '.join(self.partition_by)}] " if self.partition_by else ""
        order = f"order=[{', '.join(map(str, self.order))}] " if self.order else ""
        return f"{by}{order}[{', '.join(map(str, self.calls))}]"
