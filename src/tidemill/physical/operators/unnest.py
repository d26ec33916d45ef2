"""Unnest: rows out of lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar
from tidemill.algebra.schema import Schema
from tidemill.algebra.unnest import Unnest
from tidemill.deadline import look
from tidemill.expressions import UserFunction, compile_items
from tidemill.physical.facts import RowValidity
from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.operator import Operator, RowExec, Stateless, empty_batch
from tidemill.timeline import VALID_FROM, VALID_TO

_LIST = "#list"


@dataclass(frozen=True)
class UnnestExec(RowExec):
    """A row for every element of a list; the validity stays."""

    values: Scalar
    element: str
    ordinal: str | None = None
    outer: bool = False
    kept: tuple[str, ...] = ()
    functions: tuple[UserFunction, ...] = ()

    same_rows = True
    by_name = True

    @cached_property
    def schema(self) -> Schema:
        return self.meaning([self.child]).schema

    def details(self) -> str:
        return self.meaning([self.child]).details()

    @cached_property
    def validity(self) -> RowValidity:
        below = self.child.validity
        same = set(self.kept) == set(self.child.schema.names)
        return replace(below, coalesced=same and below.coalesced)

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        return Unnest(inputs[0], self.values, self.element, self.ordinal, self.outer, self.kept)

    def operator(self) -> Operator:
        return _Unnest(self)


class _Unnest(Stateless):
    def __init__(self, node: UnnestExec) -> None:
        functions = {function.name.lower(): function for function in node.functions}
        self._node = node
        self._list = compile_items([(_LIST, node.values)], node.child.schema, functions)
        self._kept = [*node.kept, VALID_FROM, VALID_TO]
        self._empty = empty_batch(node.schema)

    def apply(self, batch: pl.DataFrame) -> pl.DataFrame:
        if batch.height == 0:
            return self._empty
        lists = self._list.run(batch)[_LIST]
        lengths = lists.list.len().fill_null(0).to_numpy().astype(np.int64)
        times = np.maximum(lengths, 1) if self._node.outer else lengths
        look(int(times.sum()))
        made = [_elements(lists, lengths).alias(self._node.element)]
        if self._node.ordinal is not None:
            made.append(pl.Series(self._node.ordinal, _places(lengths)))
        if len(made[0]) < times.sum():
            # Rows without elements get NULL in the new columns.
            where = _with_gaps(lengths, times)
            made = [column.gather(where) for column in made]
        rows = batch.select(self._kept)[np.repeat(np.arange(batch.height), times)]
        return rows.hstack(made).select(self._empty.columns)


def _elements(lists: pl.Series, lengths: Ints) -> pl.Series:
    """All elements, list by list."""
    full = lists if lengths.all() else lists[np.flatnonzero(lengths)]
    return full.explode() if len(full) else pl.Series([], dtype=lists.dtype.inner)  # type: ignore[attr-defined]


def _places(lengths: Ints) -> Ints:
    """The places of elements in their lists, counted from 1."""
    before = np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.arange(1, len(before) + 1) - before


def _with_gaps(lengths: Ints, times: Ints) -> pl.Series:
    """For each row of the result the number of its element; NULL if there is none."""
    there = np.repeat(lengths > 0, times)
    numbers = pl.Series(np.cumsum(there) - 1)
    return numbers.set(pl.Series(~there), None)
