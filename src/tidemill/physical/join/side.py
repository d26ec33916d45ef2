"""The rows of one input of a join that rows of the others may still meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import polars as pl

from tidemill.algebra.schema import Schema
from tidemill.physical.arrays import Array, Ints
from tidemill.physical.keys import KeyColumns, hash_rows
from tidemill.physical.once import ONCE
from tidemill.physical.operator import ends, starts
from tidemill.physical.ordering import slot_order
from tidemill.timeline import OPEN_END

_LARGEST_HASH = np.uint64(2**64 - 1)

_MANY_ENDED = 0.25
"""The share of rows of a run that may have ended before they are dropped."""


@dataclass(frozen=True)
class Run:
    """Rows by their place in the index, and by start at each place.

    A row's place is the hash of its key; with `buckets`, so many places share all rows.
    """

    places: Array
    hashes: Array
    batch: pl.DataFrame
    buckets: int | None = None

    def __len__(self) -> int:
        return len(self.hashes)

    @staticmethod
    def of(hashes: Array, batch: pl.DataFrame, buckets: int | None = None) -> Run:
        """Rows in any order, made ready to be found."""
        places = hashes if buckets is None else hashes % np.uint64(buckets)
        if len(hashes) < 2:
            return Run(places, hashes, batch, buckets)
        smallest = places.min(initial=_LARGEST_HASH)
        order = slot_order(places - smallest, starts(batch))
        return Run(places, hashes, batch, buckets).take(order)

    @staticmethod
    def merged(old: Run, new: Run) -> Run:
        """The rows of both."""
        hashes = np.concatenate([old.hashes, new.hashes])
        batch = pl.concat([old.batch, new.batch], rechunk=True)
        if old.starts.max(initial=0) > new.starts.min(initial=OPEN_END):
            return Run.of(hashes, batch, old.buckets)
        # The two parts only have to be merged; a stable sort leaves the starts in order.
        places = hashes if old.buckets is None else np.concatenate([old.places, new.places])
        return Run(places, hashes, batch, old.buckets).take(np.argsort(places, kind="stable"))

    def take(self, rows: Ints) -> Run:
        """Some of the rows, in this order."""
        hashes = self.hashes[rows]
        places = hashes if self.buckets is None else self.places[rows]
        return Run(places, hashes, self.batch[rows], self.buckets)

    def find(self, hashes: Array) -> tuple[Ints, Ints]:
        """From where to where rows are at the places of these hashes."""
        places = hashes if self.buckets is None else hashes % np.uint64(self.buckets)
        return (
            np.searchsorted(self.places, places, side="left"),
            np.searchsorted(self.places, places, side="right"),
        )

    def everywhere(self, times: int) -> tuple[Ints, Ints]:
        """From where to where all rows are, so many times."""
        return np.zeros(times, dtype=np.int64), np.full(times, len(self), dtype=np.int64)

    def alive(self, expired: int) -> Run:
        """Without the rows that have ended, if they are many."""
        if self.many_end > expired:
            return self
        return self.take(np.flatnonzero(self.ends > expired))

    @property
    def starts(self) -> Ints:
        return starts(self.batch)

    @property
    def ends(self) -> Ints:
        return ends(self.batch)

    @cached_property
    def last_end(self) -> int:
        return int(self.ends.max(initial=0))

    @cached_property
    def many_end(self) -> int:
        """When so many rows have ended that it is worth while to drop them."""
        if not len(self):
            return OPEN_END
        many = int(_MANY_ENDED * (len(self) - 1))
        return int(np.partition(self.ends, many)[many])

    @cached_property
    def longest(self) -> int:
        """How long its rows hold at most."""
        return int((self.ends - self.starts).max(initial=0))

    @cached_property
    def nbytes(self) -> int:
        places = 0 if self.buckets is None else self.places.nbytes
        return int(self.hashes.nbytes + places + self.batch.estimated_size())


class Side:
    """One input: its rows in runs, small new ones behind large old ones."""

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
        self.runs: list[Run] = []

    def arrive(self, batch: pl.DataFrame) -> Run:
        """New rows, ready to be matched; NULL keys match nothing."""
        return ONCE.get((batch,), (self.keys.identity, self._buckets), lambda: self._ready(batch))

    def _ready(self, batch: pl.DataFrame) -> Run:
        batch = self.keys.complete(batch)
        if not self.keys:
            return Run.of(np.zeros(batch.height, dtype=np.uint64), batch)
        return Run.of(hash_rows(self.keys.values(batch), 0), batch, self._buckets)

    def keep(self, run: Run, expired: int) -> None:
        """Store new rows; drop what ended before rows of other inputs can still start."""
        self.runs = [old.alive(expired) for old in self.runs if old.last_end > expired]
        if run.last_end > expired:
            self.runs.append(run.alive(expired))
        while len(self.runs) > 1 and len(self.runs[-1]) * 2 >= len(self.runs[-2]):
            last, before = self.runs.pop(), self.runs.pop()
            self.runs.append(ONCE.get((before, last), "merged", partial(Run.merged, before, last)))

    def has_expired(self, expired: int) -> bool:
        """Whether some rows can be forgotten at little cost."""
        return any(run.last_end <= expired for run in self.runs)

    @property
    def rows(self) -> int:
        return sum(len(run) for run in self.runs)

    @property
    def nbytes(self) -> int:
        return sum(run.nbytes for run in self.runs)
