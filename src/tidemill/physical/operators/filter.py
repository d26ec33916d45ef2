"""Filter: keep the rows that meet a condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from tidemill.algebra.nodes import Filter
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar
from tidemill.expressions import UserFunction, compile_items
from tidemill.physical.mechanisms.few_rows import kept
from tidemill.physical.operator import Operator, RowExec, Stateless


@dataclass(frozen=True)
class FilterExec(RowExec):
    """Keep the rows for which the predicate is true; NULL is not true."""

    predicate: Scalar
    functions: tuple[UserFunction, ...] = ()

    same_rows = True
    keeps_columns = True

    def details(self) -> str:
        return str(self.predicate)

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        return Filter(inputs[0], self.predicate)

    def operator(self) -> Operator:
        return _Filter(self)


class _Filter(Stateless):
    def __init__(self, node: FilterExec) -> None:
        functions = {function.name.lower(): function for function in node.functions}
        self._predicate = compile_items([("keep", node.predicate)], node.schema, functions)

    def apply(self, batch: pl.DataFrame) -> pl.DataFrame:
        if batch.height == 0:
            return batch
        met = self._predicate.run(batch)["keep"].fill_null(value=False)
        return kept(batch, met.to_numpy())
