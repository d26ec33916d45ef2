"""Scores of objects, from the values that the calls give for their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tidemill.algebra.schema import Field, Schema
from tidemill.expressions import compile_items
from tidemill.physical.mechanisms.arrays import Array, Ints
from tidemill.physical.operator import empty_frame
from tidemill.physical.operators.ranking.calls import Coming, Ranges, call_values
from tidemill.physical.operators.ranking.keys import keys_of
from tidemill.physical.operators.ranking.known import KnownObjects
from tidemill.physical.operators.ranking.rows import RankingRows, ScoreColumn

if TYPE_CHECKING:
    from tidemill.physical.operators.ranking.node import RankExec


class Scoring:
    """Evaluates the calls, the score and all items; rows have a column for every argument."""

    def __init__(self, node: RankExec) -> None:
        ranked = node.ranked
        self._calls = ranked.calls
        self._keys = node.child.schema.select(ranked.keys)
        self.arguments = list(dict.fromkeys(c.argument for c in ranked.calls if c.argument))
        results = Schema(tuple(Field(call.name, call.type) for call in ranked.calls))
        self._empty = empty_frame(results)
        self.types = self._empty.schema  # of the calls
        functions = {function.name.lower(): function for function in node.functions}
        schema = Schema(self._keys.fields + results.fields)
        self._items = compile_items(ranked.items, schema, functions)
        score = dict(ranked.items)[ranked.score]
        self._score = compile_items([(ranked.score, score)], schema, functions)
        self.reads_keys = bool(score.columns & set(ranked.keys))
        self.dtype = empty_frame(node.schema)[ranked.score].dtype
        self._highs = [
            [promise.highs[number] for promise in ranked.streams]
            for number in range(len(ranked.calls))
        ]

    def calls(self, rows: RankingRows, ranges: Ranges, coming: Array | None = None) -> pl.DataFrame:
        """The values of the calls for ranges of rows, with the most that may come if asked."""
        if len(ranges.low) == 0:
            return self._empty
        columns = []
        for call, highs in zip(self._calls, self._highs, strict=True):
            column = rows.columns[self.arguments.index(call.argument)] if call.argument else None
            more = _nothing(len(ranges.low)) if coming is None else Coming(coming, highs)
            columns.append(call_values(call, column, ranges, more))
        return pl.DataFrame(columns).cast(self._empty.schema)

    def keys(self, calls: pl.DataFrame, items: Ints, known: KnownObjects) -> Ints:
        """The scores of items, as keys."""
        if calls.height == 0:
            return np.empty(0, np.int64)
        rows = calls.hstack(known.rows(items)) if self.reads_keys else calls
        return keys_of(self._score.run(rows).to_series())

    def keys_of_parts(self, parts: Sequence[ScoreColumn], known: KnownObjects) -> Ints:
        """The scores of items for which every call has partial values, one from each stream."""
        width = len(self._highs[0])
        low = np.arange(len(parts[0].present) // width) * width
        ranges, coming = Ranges(low, low + width), _nothing(len(low))
        columns = []
        for call, part in zip(self._calls, parts, strict=True):
            adding = replace(call, function="SUM") if call.function == "COUNT" else call
            columns.append(call_values(adding, part, ranges, coming))
        return self.keys(pl.DataFrame(columns).cast(self._empty.schema), low, known)

    def results(self, calls: pl.DataFrame, items: Ints, known: KnownObjects) -> pl.DataFrame:
        """All columns of the result."""
        return self._items.run(pl.concat([known.rows(items), calls], how="horizontal"))


def _nothing(size: int) -> Coming:
    return Coming(np.empty((size, 0)), ())
