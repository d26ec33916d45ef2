"""Expressions made ready to run on batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import duckdb
import polars as pl

from tidemill.algebra.scalar import Scalar
from tidemill.algebra.schema import Schema
from tidemill.deadline import interrupting
from tidemill.errors import ExecutionError
from tidemill.expressions.casts import cast
from tidemill.expressions.connection import connection
from tidemill.expressions.duckdb_sql import quoted, reason
from tidemill.expressions.functions import Functions
from tidemill.expressions.integers import IntegerExpression
from tidemill.expressions.pieces import in_pieces, may_grow
from tidemill.expressions.translate import translate


@dataclass(frozen=True)
class Compiled:
    """A list of named expressions over the columns of a schema.

    Plain column references cost nothing, whole numbers little: only the rest goes through DuckDB.
    """

    items: tuple[tuple[str, Scalar], ...]
    schema: Schema
    functions: Functions

    def __getstate__(self) -> dict[str, Any]:
        """Without what holds in this thread only: the names by which DuckDB knows functions."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def run(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The values of the expressions for every row of the frame, in its order."""
        computed = self._numbers(frame)
        if computed is None:
            grows = self._may_grow
            found = in_pieces(frame, self._compute) if grows else self._compute(frame)
            computed = found.to_dict()
        columns = [
            frame[scalar.node.name].alias(name) if scalar.is_column else computed[name]
            for name, scalar in self.items
        ]
        return pl.DataFrame(columns)

    def _numbers(self, frame: pl.DataFrame) -> Mapping[str, pl.Series] | None:
        """All that is to be computed, if it is whole numbers alone."""
        if self._integers is None or not frame.height:
            return {} if not self._expressions else None
        found = {name: each.run(frame) for name, each in self._integers.items()}
        known = {name: series.alias(name) for name, series in found.items() if series is not None}
        return known if len(known) == len(found) else None

    @cached_property
    def _integers(self) -> Mapping[str, IntegerExpression] | None:
        found = {
            name: IntegerExpression.make(scalar, self.schema) for name, scalar in self._expressions
        }
        known = {name: each for name, each in found.items() if each is not None}
        return known if len(known) == len(found) else None

    @cached_property
    def _expressions(self) -> list[tuple[str, Scalar]]:
        return [(name, scalar) for name, scalar in self.items if not scalar.is_column]

    @cached_property
    def _may_grow(self) -> bool:
        return any(may_grow(scalar) for _, scalar in self._expressions)

    @cached_property
    def _inputs(self) -> list[str]:
        used = {name for _, scalar in self._expressions for name in scalar.columns}
        return [name for name in self.schema.names if name in used]

    def _compute(self, frame: pl.DataFrame) -> pl.DataFrame:
        # A frame without columns has no height, so the first column stands for the rows.
        batch = frame.select(self._inputs or frame.columns[:1]).to_arrow()
        try:
            with interrupting(connection().interrupt):
                relation = connection().from_arrow(batch).project(self._select_list)
                return pl.DataFrame(relation.to_arrow_table())
        except duckdb.Error as error:
            expressions = ", ".join(str(scalar) for _, scalar in self._expressions)
            raise ExecutionError(f"{reason(error)}, while computing {expressions}") from error

    @cached_property
    def _select_list(self) -> str:
        return ", ".join(
            f"{self._text(scalar)} AS {quoted(name)}" for name, scalar in self._expressions
        )

    def _text(self, scalar: Scalar) -> str:
        found = translate(scalar.node, self.schema, self.functions)
        return cast(found, scalar.type).sql


def compile_items(
    items: Iterable[tuple[str, Scalar]], schema: Schema, functions: Functions
) -> Compiled:
    """Prepare expressions for repeated use."""
    return Compiled(tuple(items), schema, functions)
