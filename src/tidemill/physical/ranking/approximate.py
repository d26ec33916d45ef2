"""The running approximate ranking: instances stay only if they are likely to be among the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from tidemill.physical.arrays import Ints
from tidemill.physical.keys import canonical
from tidemill.physical.operator import starts
from tidemill.physical.ranking.appearance import Hashes
from tidemill.physical.ranking.likely import Likely
from tidemill.physical.ranking.operator import Rank
from tidemill.physical.ranking.rows import Objects

if TYPE_CHECKING:
    from tidemill.physical.ranking.node import RankExec

_SEED = 1  # with any but 0 integers, too, are hashed


class ApproximateRank(Rank):
    """A ranking that expects of rows to come only what is likely.

    What is likely is known at the end of a tick, and instances go only then.
    """

    def __init__(self, node: RankExec) -> None:
        super().__init__(node)

    def _promises_of(self, node: RankExec) -> Likely:
        self._likely = Likely(node.ranked, self._window.length)
        return self._likely

    def start(self, partition: int) -> None:
        self._likely.start(partition)

    def tell(self) -> bytes | None:
        return self._likely.tell()

    def hear(self, told: Mapping[int, bytes]) -> None:
        self._likely.hear(told)

    def sweep(self, slices: Sequence[pl.DataFrame], until: int) -> pl.DataFrame:
        if self._ranked.rows is None:
            self._likely.advance(until - 1)
        return super().sweep(slices, until)

    def _arrive(self, batch: pl.DataFrame) -> tuple[Objects, Ints]:
        places = self._window.places(starts(batch))
        self._likely.note(self._hashes(batch), self._streams(batch), places)
        return super()._arrive(batch)

    def _hashes(self, batch: pl.DataFrame) -> Hashes:
        keys = canonical(batch.select(self._ranked.keys))
        hashes: Hashes = keys.hash_rows(seed=_SEED).to_numpy()
        return hashes

    @property
    def state_bytes(self) -> int:
        return super().state_bytes + self._likely.nbytes
