"""Comparisons by which the rows of a relation are looked up in their order, not one by one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from tidemill.algebra.scalar import Scalar
from tidemill.algebra.schema import Schema
from tidemill.expressions.bounds import bounds_of
from tidemill.physical.mechanisms.arrays import Array, Ints


@dataclass(frozen=True)
class LookupBound:
    """A column of rows that look up, and one of the relation that is `at_least` as large, or at
    most: of the rows of the relation in their order, the last ones, or the first."""

    mine: str
    theirs: str
    at_least: bool

    def values(self, rows: pl.DataFrame) -> Array | None:
        """What rows are looked up by; None if that is not known of all."""
        return None if rows[self.mine].null_count() else rows[self.mine].to_numpy()

    def part(self, ordered: Array, values: Array) -> tuple[Ints, Ints]:
        """For every value, where the rows begin that may meet it, and how many they are."""
        if self.at_least:
            first = np.searchsorted(ordered, values, side="left")
            return first, len(ordered) - first
        count = np.searchsorted(ordered, values, side="right")
        return np.zeros_like(count), count


def bound_of(conditions: Iterable[Scalar], left: Schema, relation: Schema) -> LookupBound | None:
    """The first comparison of whole numbers of both sides; others are looked at pair by pair.

    >>> from sqlglot import exp
    >>> from tidemill.algebra.scalar import column_node
    >>> dear = exp.GT(this=column_node("price"), expression=column_node("limit"))
    >>> left, relation = Schema.of(price=pa.int64()), Schema.of(limit=pa.int64())
    >>> bound_of([Scalar(dear, pa.bool_())], left, relation)
    LookupBound(mine='price', theirs='limit', at_least=False)
    """
    for bound in bounds_of(tuple(conditions), (left, relation)):
        columns = (bound.other, left), (bound.value, relation)
        if bound.input == 1 and not bound.offset and all(_is_number(*each) for each in columns):
            return LookupBound(bound.other.node.name, bound.value.node.name, not bound.is_upper)
    return None


def _is_number(value: Scalar, schema: Schema) -> bool:
    return value.is_column and bool(pa.types.is_signed_integer(schema[value.node.name]))
