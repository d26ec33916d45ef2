"""Pick: of the rows of all queries of one shape, those of one query."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import blake2b

import numpy as np
import polars as pl
import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.nodes import Filter, Project
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar, column, column_node
from tidemill.algebra.schema import Schema
from tidemill.physical.facts import RowValidity
from tidemill.physical.mechanisms.arrays import starts_of_runs
from tidemill.physical.mechanisms.few_rows import taken
from tidemill.physical.mechanisms.once import ONCE
from tidemill.physical.operator import Operator, RowExec, Stateless, empty_batch
from tidemill.timeline import VALID_FROM, VALID_TO

QUERY = "#query"
"""The column that tells to which query of a shape a row belongs."""

Constants = tuple[int | float | str, ...]


def number_of(constants: Constants) -> int:
    """The number by which a plan knows the queries that have these constants.

    >>> number_of((7, "lamp")) == number_of((7, "lamp")) != number_of((8, "lamp"))
    True
    """
    digest = blake2b(repr(constants).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


@dataclass(frozen=True)
class PickExec(RowExec):
    """The rows of the queries with these `constants`; their columns are the `names`."""

    names: tuple[str, ...]
    constants: Constants

    same_rows = True
    by_name = True

    @cached_property
    def number(self) -> int:
        """What the column `QUERY` has in its rows."""
        return number_of(self.constants)

    @cached_property
    def schema(self) -> Schema:
        return self.child.schema.select(self.names)

    def details(self) -> str:
        return f"constants=[{', '.join(map(repr, self.constants))}]"

    @cached_property
    def validity(self) -> RowValidity:
        return replace(self.child.validity, coalesced=False)

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        mine = exp.EQ(this=column_node(QUERY), expression=exp.Literal.number(self.number))
        items = tuple((name, column(name, self.schema[name])) for name in self.names)
        return Project(Filter(inputs[0], Scalar(mine, pa.bool_())), items)

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of its rows, with their validity."""
        return (*self.names, VALID_FROM, VALID_TO)

    def numbers(self, batch: pl.DataFrame) -> Collection[int]:
        """The numbers of all queries of the shape that have rows in a batch, so that the others
        need not be asked."""
        return _dealt_once(batch, self.columns)[1].keys()

    def operator(self) -> Operator:
        return _Pick(self)


_Dealt = tuple[pl.DataFrame, dict[int, tuple[int, int]]]
"""Rows query by query, and by its number where those of each begin, and how many there are."""


class _Pick(Stateless):
    def __init__(self, node: PickExec) -> None:
        self._number = node.number
        self._names = node.columns
        self._empty = empty_batch(node.schema)

    def ignores(self, inputs: Sequence[pl.DataFrame]) -> bool:
        return self._number not in self._dealt(inputs[0])[1]

    def apply(self, batch: pl.DataFrame) -> pl.DataFrame:
        rows, places = self._dealt(batch)
        place = places.get(self._number)
        return self._empty if place is None else rows.slice(*place)

    def _dealt(self, batch: pl.DataFrame) -> _Dealt:
        return _dealt_once(batch, self._names)


def _dealt_once(batch: pl.DataFrame, names: tuple[str, ...]) -> _Dealt:
    # All queries of the shape have the same batch: it is dealt out once.
    return ONCE.get((batch,), names, partial(_dealt, batch, names))


def _dealt(batch: pl.DataFrame, names: Sequence[str]) -> _Dealt:
    numbers = batch[QUERY].to_numpy()
    order = np.argsort(numbers, kind="stable")
    first = np.flatnonzero(starts_of_runs(numbers[order]))
    counts = np.diff(first, append=batch.height)
    places = zip(first.tolist(), counts.tolist(), strict=True)
    return taken(batch.select(names), order), dict(
        zip(numbers[order[first]].tolist(), places, strict=True)
    )
