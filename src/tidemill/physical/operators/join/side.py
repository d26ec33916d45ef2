"""The rows of one input of a join that rows of the others may still meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl

from tidemill.algebra.schema import Schema
from tidemill.physical.mechanisms.arrays import Array, Ints
from tidemill.physical.mechanisms.compiled import fixed
from tidemill.physical.mechanisms.few_rows import taken
from tidemill.physical.mechanisms.keys import KeyColumns, hash_rows
from tidemill.physical.mechanisms.once import ONCE
from tidemill.physical.mechanisms.ordering import slot_order, stable_order
from tidemill.physical.operator import Own, ends, owned, starts
from tidemill.timeline import OPEN_END

_MANY_ENDED = 0.25
"""The share of rows of a run that may have ended before they are dropped."""


@dataclass(frozen=True)
class SortedRun:
    """Rows that have come together, or were merged.

    A row's place in the index is the hash of its key; with `buckets`, so many places share all
    rows. Rows that are `ordered` by place, and by start at each place, can be found.
    """

    hashes: Array
    batch: pl.DataFrame
    buckets: int | None = None
    is_ordered: bool = False

    def __len__(self) -> int:
        return len(self.hashes)

    @cached_property
    def ordered(self) -> SortedRun:
        """The same rows, ready to be found."""
        if self.is_ordered:
            return self
        if len(self) < 2:
            return replace(self, is_ordered=True)
        return self._in(slot_order(self.places, self.starts))

    @staticmethod
    def merged(old: SortedRun, new: SortedRun) -> SortedRun:
        """The rows of both, which are ordered."""
        both = SortedRun(
            np.concatenate([old.hashes, new.hashes]),
            pl.concat([old.batch, new.batch], rechunk=True),
            old.buckets,
        )
        if old.starts.max(initial=0) > new.starts.min(initial=OPEN_END):
            return both.ordered
        # The two parts only have to be merged; a stable sort leaves the starts in order.
        return both._in(stable_order(both.places))

    def _in(self, order: Ints) -> SortedRun:
        batch = taken(self.batch, order)
        return SortedRun(self.hashes[order], batch, self.buckets, is_ordered=True)

    def take(self, rows: Ints) -> SortedRun:
        """Some of the rows, in their order."""
        return SortedRun(self.hashes[rows], taken(self.batch, rows), self.buckets, self.is_ordered)

    def alive(self, expired: int) -> SortedRun:
        """Without the rows that have ended, if they are many."""
        if self.many_end > expired:
            return self
        return self.take(np.flatnonzero(self.ends > expired))

    def places_of(self, hashes: Array) -> Array:
        """The places where rows with these hashes are."""
        return hashes if self.buckets is None else hashes % np.uint64(self.buckets)

    @cached_property
    def places(self) -> Array:
        """Where each of the rows is."""
        return fixed(self.places_of(self.hashes))

    @cached_property
    def starts(self) -> Ints:
        return starts(self.batch)

    @cached_property
    def ends(self) -> Ints:
        return ends(self.batch)

    @cached_property
    def last_end(self) -> int:
        return int(self.ends.max(initial=0))

    @cached_property
    def many_end(self) -> int:
        """The instant at which enough rows have ended for it to pay to drop them."""
        if not len(self):
            return OPEN_END
        many = int(_MANY_ENDED * (len(self) - 1))
        return int(np.partition(self.ends, many)[many])

    @cached_property
    def longest(self) -> int:
        """How long its rows hold at most."""
        return int((self.ends - self.starts).max(initial=0))

    @cached_property
    def bands(self) -> dict[str, Any]:
        """By value, the rows in its order, as far as somebody has looked for them so."""
        return {}

    @property
    def nbytes(self) -> int:
        orders = (array.nbytes for values, rows in self.bands.values() for array in (values, *rows))
        return int(self._own_bytes + sum(orders))

    @cached_property
    def _own_bytes(self) -> int:
        return int(self.hashes.nbytes + self.batch.estimated_size())


class Side:
    """One input: its rows in runs, small new ones after large old ones."""

    STATE = ("runs",)

    def __init__(
        self,
        schema: Schema,
        keys: Sequence[str],
        null_safe: Sequence[bool],
        buckets: int | None = None,
    ) -> None:
        self.schema = schema
        self.keys = KeyColumns(keys, null_safe)
        self._buckets = buckets
        self.runs: list[SortedRun] = []

    def arrive(self, batch: pl.DataFrame) -> SortedRun:
        """New rows, in no order; NULL keys match nothing."""
        return ONCE.get((batch,), (self.keys.identity, self._buckets), lambda: self._ready(batch))

    def _ready(self, batch: pl.DataFrame) -> SortedRun:
        batch = self.keys.complete(batch)
        if not self.keys:
            return SortedRun(np.zeros(batch.height, dtype=np.uint64), batch)
        return SortedRun(hash_rows(self.keys.values(batch), 0), batch, self._buckets)

    def keep(self, run: SortedRun, expired: int) -> None:
        """Store new rows; drop what ended before rows of other inputs can still start."""
        self.runs = [old.alive(expired) for old in self.runs if old.last_end > expired]
        if run.last_end > expired:
            # What has ended by now need not be put in order.
            self.runs.append(ONCE.get((run,), expired, lambda: run.alive(expired).ordered))
        while len(self.runs) > 1 and len(self.runs[-1]) * 2 >= len(self.runs[-2]):
            last, before = self.runs.pop(), self.runs.pop()
            self.runs.append(
                ONCE.get((before, last), "merged", partial(SortedRun.merged, before, last))
            )

    def share(self, others: Sequence[Side], own: Sequence[Own]) -> None:
        """See `Operator.share`."""
        pairs = [(run.batch, mine) for o, mine in zip(others, own, strict=True) for run in o.runs]
        rows = owned([rows for rows, _ in pairs], [mine for _, mine in pairs]) if pairs else None
        self.runs = [] if rows is None or not rows.height else [self._ready(rows).ordered]

    def rehash(self) -> None:
        """Find rows by the hashes that they have now."""
        self.runs = [self._ready(run.batch).ordered for run in self.runs]

    def has_expired(self, expired: int) -> bool:
        """Whether some rows can be forgotten at little cost."""
        return any(run.last_end <= expired for run in self.runs)

    @property
    def rows(self) -> int:
        return sum(len(run) for run in self.runs)

    @property
    def nbytes(self) -> int:
        return sum(run.nbytes for run in self.runs)
