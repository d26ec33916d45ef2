"""The running lookup."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from tidemill.algebra.schema import Schema
from tidemill.deadline import look
from tidemill.physical.mechanisms.arrays import Bools, Ints
from tidemill.physical.mechanisms.keys import KeyColumns
from tidemill.physical.mechanisms.pairs import Condition, bounded
from tidemill.physical.operator import Operator, Own, Waiting, starts
from tidemill.physical.operators.lookup.relation import Relation
from tidemill.timeline import OPEN_END, VALID_FROM

_NONE: Ints = np.empty(0, dtype=np.int64)


class Lookup(Operator):
    """Takes in what is new in the relation, then looks up the new rows of the left side.

    If it `waits`, rows of the left side are looked up when the relation is known as far as their
    start: it may come in pieces. What changes while the query runs does not hold rows back.
    """

    STATE = ("_relation", "_waiting")

    def __init__(
        self,
        left: Schema,
        relation: Relation,
        keys: KeyColumns,
        conditions: Sequence[Condition],
        waits: bool,
    ) -> None:
        self._relation = relation
        self._keys = keys
        self._conditions = conditions
        used: frozenset[str] = frozenset().union(*(part.columns for part in conditions))
        # Without any column, a frame would not tell how many pairs there are.
        self._mine = [VALID_FROM, *(name for name in left.names if name in used)]
        self._theirs = [name for name in relation.columns if name in used]
        self._waits = waits
        self._waiting = Waiting(left)

    def step(
        self, inputs: Sequence[pl.DataFrame], watermarks: Sequence[int]
    ) -> tuple[pl.DataFrame, int]:
        batch, changes = inputs
        self._relation.arrive(changes)
        known = watermarks[1] if self._waits else OPEN_END
        batch = self._waiting.due(batch, known)
        result = self.lookup(batch)
        watermark = min(watermarks[0], known)
        self._relation.forget(watermark, batch.height + changes.height)
        return result, watermark

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        self._waiting.share([other._waiting for other in others], [mine[0] for mine in own])
        self._relation.share([other._relation for other in others], [mine[1] for mine in own])

    @abstractmethod
    def lookup(self, batch: pl.DataFrame) -> pl.DataFrame:
        """The result for rows of the left side."""

    def matches(self, batch: pl.DataFrame) -> Iterator[tuple[Ints, Ints]]:
        """Numbers of rows, and of rows of the relation that match them; in blocks."""
        bound = self._relation.bound
        bounds = None if bound is None else bound.values(batch)
        for ones, rows in self._relation.pairs(self._keys.values(batch), starts(batch), bounds):
            look()
            met = self._met(batch, ones, rows)
            yield (ones, rows) if met is None else (ones[met], rows[met])

    def _met(self, batch: pl.DataFrame, ones: Ints, rows: Ints) -> Bools | None:
        """Which pairs meet the conditions; None: all."""
        if not self._conditions or len(ones) == 0:
            return None
        pairs = batch.select(self._mine)[ones]
        if self._theirs:
            pairs = pairs.hstack(self._relation.take(rows, self._theirs).get_columns())
        met: Bools = np.logical_and.reduce([part.holds(pairs) for part in self._conditions])
        return met

    @property
    def state_rows(self) -> int:
        return len(self._relation) + self._waiting.rows.height

    @property
    def state_bytes(self) -> int:
        return self._relation.nbytes + self._waiting.nbytes


class InnerLookup(Lookup):
    """Rows with each of their partners."""

    def lookup(self, batch: pl.DataFrame) -> pl.DataFrame:
        every = (self._joined(batch, ones, rows) for ones, rows in self.matches(batch))
        found = list(bounded(every))
        return pl.concat(found) if found else self._joined(batch.clear(), _NONE, _NONE)

    def _joined(self, batch: pl.DataFrame, ones: Ints, rows: Ints) -> pl.DataFrame:
        if not np.array_equal(ones, np.arange(batch.height)):  # often, all have one partner
            batch = batch[ones]
        *mine, start, end = batch.get_columns()
        return pl.DataFrame([*mine, *self._relation.take(rows).get_columns(), start, end])


class PartnerLookup(Lookup):
    """Rows that have a partner, or, if that is not `wanted`, none."""

    def __init__(
        self,
        left: Schema,
        relation: Relation,
        keys: KeyColumns,
        conditions: Sequence[Condition],
        waits: bool,
        wanted: bool,
    ) -> None:
        super().__init__(left, relation, keys, conditions, waits)
        self._wanted = wanted

    def lookup(self, batch: pl.DataFrame) -> pl.DataFrame:
        return batch.filter(self._has_partner(batch) == self._wanted)

    def _has_partner(self, batch: pl.DataFrame) -> Bools:
        if self._keys and not self._conditions and self._relation.is_constant:
            return self._relation.has(self._keys.values(batch))
        found = np.zeros(batch.height, dtype=np.bool_)
        for ones, _ in self.matches(batch):
            found[ones] = True
        return found
