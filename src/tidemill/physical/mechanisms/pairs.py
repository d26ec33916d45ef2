"""Pairs of rows: how many to look at together, and what they must meet besides equal keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from tidemill.algebra.scalar import Scalar
from tidemill.algebra.schema import Schema
from tidemill.deadline import look
from tidemill.expressions import UserFunction, compile_items
from tidemill.physical.mechanisms.arrays import Bools

MOST_PAIRS = 2_000_000
"""Looked at together; bounds the memory where rows have many partners."""


def bounded(blocks: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Blocks of the result of a step, as long as its time and its number of rows allow."""
    rows = 0
    for block in blocks:
        rows += block.height
        look(rows)
        yield block


class Condition:
    """A condition on the columns of a schema, compiled once; NULL does not meet it."""

    def __init__(self, scalar: Scalar, schema: Schema, functions: Sequence[UserFunction]) -> None:
        known = {function.name.lower(): function for function in functions}
        self.columns = scalar.columns
        self._compiled = compile_items([("keep", scalar)], schema, known)

    def holds(self, rows: pl.DataFrame) -> Bools:
        """Which of the rows meet it."""
        keep = self._compiled.run(rows)["keep"]
        met: Bools = keep.fill_null(value=False).to_numpy()
        return met
