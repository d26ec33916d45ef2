"""What all operators of one evaluation share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa

from tidemill.algebra import Scalar, Schema
from tidemill.expressions import UserFunction, compile_items
from tidemill.reference.stream import Row, canonical


@dataclass(frozen=True)
class ReferenceRun:
    """The settings of an evaluation, and its access to scalar expressions."""

    horizon: int
    functions: Mapping[str, UserFunction]
    logical_granularity: bool = False

    def compute(self, scalars: Sequence[Scalar], schema: Schema, rows: Sequence[Row]) -> list[Row]:
        """The values of expressions for many rows, all at once since every call is costly."""
        items = [(str(number), scalar) for number, scalar in enumerate(scalars)]
        computed = self._evaluate([item for item in items if not item[1].is_column], schema, rows)
        for name, scalar in items:
            if scalar.is_column:
                position = schema.names.index(scalar.node.name)
                computed[name] = [row[position] for row in rows]
        columns = [computed[name] for name, _ in items]
        return [tuple(column[number] for column in columns) for number in range(len(rows))]

    def accepted(self, condition: Scalar | None, schema: Schema, rows: Iterable[Row]) -> set[Row]:
        """The rows for which the condition is true, not NULL; no condition accepts all."""
        candidates = list(rows)
        if condition is None:
            return set(candidates)
        answers = self.compute([condition], schema, candidates)
        return {row for row, (answer,) in zip(candidates, answers, strict=True) if answer is True}

    def _evaluate(
        self, items: list[tuple[str, Scalar]], schema: Schema, rows: Sequence[Row]
    ) -> dict[str, list[Any]]:
        if not items or not rows:
            return {name: [] for name, _ in items}
        frame = _frame(schema, rows, set().union(*(scalar.columns for _, scalar in items)))
        result = compile_items(items, schema, self.functions).run(frame)
        return {
            name: [canonical(value) for value in result[name].to_arrow().to_pylist()]
            for name, _ in items
        }


def _frame(schema: Schema, rows: Sequence[Row], used: set[str]) -> pl.DataFrame:
    arrays = {
        field.name: pa.array([row[position] for row in rows], type=field.type)
        for position, field in enumerate(schema)
        if field.name in used
    }
    # Constants need rows too.
    return pl.DataFrame(pa.table(arrays or {"row": list(range(len(rows)))}))
