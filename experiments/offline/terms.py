"""What a user says about the tables of a join: their columns, lives, memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from experiments.offline.optimum import By
from tidemill.engine.tables import duration, time_domain
from tidemill.errors import CatalogError, PlanError, nearest
from tidemill.timeline import Instants

Keys = str | Sequence[str] | Mapping[str, str]
"""Columns that a stream shares with the relation; a mapping says how the relation names them."""

Life = int | str | timedelta

T = TypeVar("T")


def both(given: T | tuple[T, T]) -> tuple[T, T]:
    """What is said once holds for both streams.

    >>> both("at"), both(("at", "time"))
    (('at', 'at'), ('at', 'time'))
    """
    return given if isinstance(given, tuple) else (given, given)


def names(keys: Keys) -> dict[str, str]:
    """The columns of a key, and what the relation calls them.

    >>> names("a"), names(["a", "b"]), names({"item": "id"})
    ({'a': 'a'}, {'a': 'a', 'b': 'b'}, {'item': 'id'})
    """
    if isinstance(keys, Mapping):
        return dict(keys)
    return {name: name for name in ([keys] if isinstance(keys, str) else keys)}


@dataclass(frozen=True)
class Terms:
    """Everything but the rows; what comes in pairs is for r and for s.

    >>> Terms(2, (5, 5), ("at", "at"), ({"a": "a"}, {}))
    Traceback (most recent call last):
    tidemill.errors.PlanError: error: a stream shares no column with the relation
    help: keys names one at least
    """

    memory: int
    life: tuple[Life, Life]
    time: tuple[str, str]
    keys: tuple[dict[str, str], dict[str, str]]
    importance: tuple[str | None, str | None] = (None, None)
    active: tuple[str | None, str | None] = (None, None)
    by: By = "importance"

    def __post_init__(self) -> None:
        if self.memory < 0:
            raise PlanError(f"no memory holds {self.memory} rows", help="give 0 or more rows")
        if self.by not in ("importance", "count"):
            raise PlanError(
                f"results cannot be compared by {self.by!r}", help="by is 'importance' or 'count'"
            )
        if not all(self.keys):
            raise PlanError(
                "a stream shares no column with the relation", help="keys names one at least"
            )

    @property
    def slots(self) -> int:
        """Rows that each stream may keep."""
        return self.memory // 2

    def with_memory(self, memory: int) -> Terms:
        """The same with another bound."""
        return replace(self, memory=memory)


def column(table: pa.Table, table_name: str, name: str) -> pa.ChunkedArray:
    """A column, or an error that names the ones there are."""
    if name not in table.column_names:
        close = nearest(name, table.column_names)
        meant = f"did you mean `{close}`? " if close else ""
        raise CatalogError(
            f"unknown column `{name}` in `{table_name}`",
            help=f"{meant}columns: {', '.join(table.column_names)}",
        )
    return table.column(name)


def instants(table: pa.Table, table_name: str, name: str) -> Instants:
    """The time column of a stream as steps of the time axis."""
    values = column(table, table_name, name)
    time_domain(table_name, name, values.type)
    if values.null_count:
        raise CatalogError(
            f"the time column `{name}` of `{table_name}` has NULLs", help="leave these rows out"
        )
    return steps(values)


def steps(values: pa.ChunkedArray) -> Instants:
    """Instants as integers: ticks as they are, timestamps and dates in microseconds."""
    if not pa.types.is_integer(values.type):
        values = values.cast(pa.timestamp("us"))
    found: Instants = values.cast(pa.int64()).to_numpy()
    return found


def life(table: pa.Table, name: str, given: Life) -> int:
    """How many steps a row of a stream lives."""
    found = duration(given, time_domain("", name, table.schema.field(name).type))
    if found == 0:
        raise PlanError("rows that live for no time meet nothing", help="life is 1 or more")
    return found


def importances(table: pa.Table, table_name: str, name: str | None) -> np.ndarray:
    """The importance of every row of a stream: 1 if no column says it."""
    if name is None:
        return np.ones(table.num_rows)
    values = column(table, table_name, name)
    try:
        found: np.ndarray = pc.cast(values, pa.float64(), safe=False).to_numpy()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise CatalogError(
            f"the importance `{name}` of `{table_name}` is no number", help="name a numeric column"
        ) from error
    if not np.all(np.isfinite(found) & (found >= 0)):
        raise CatalogError(
            f"the importance `{name}` of `{table_name}` is NULL, infinite or negative in some row",
            help="importances are numbers from 0 on",
        )
    return found
