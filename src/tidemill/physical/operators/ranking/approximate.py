"""The running approximate ranking: instances stay only if they are likely to be among the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.mechanisms.keys import canonical
from tidemill.physical.operator import starts
from tidemill.physical.operators.ranking.appearance import Hashes
from tidemill.physical.operators.ranking.audit import SHARE, Audit, followed
from tidemill.physical.operators.ranking.likely import Likely, PruningByTick
from tidemill.physical.operators.ranking.operator import Rank
from tidemill.physical.operators.ranking.pruning import Pruning
from tidemill.physical.operators.ranking.rows import Objects
from tidemill.physical.operators.topk.firsts import ABSENT

if TYPE_CHECKING:
    from tidemill.physical.operators.ranking.node import RankExec

_SEED = 1  # with any but 0 integers, too, are hashed


class ApproximateRank(Rank):
    """A ranking that expects of rows to come only what is likely.

    What is likely is known at the end of a tick, and instances go only then.
    """

    STATE = ("_audit", "_likely", "_missed", "_checked")

    def __init__(self, node: RankExec) -> None:
        super().__init__(node)
        self._audit = Audit(node, self._scoring, self._window, self._rows)
        self._missed = 0
        self._checked = 0

    def _pruning_of(self, node: RankExec) -> Pruning:
        self._likely = Likely(node.ranked, self._window.length)
        return PruningByTick(self._scoring, self._likely, self._known, node.ranked.limit)

    def start(self, partition: int) -> None:
        self._likely.start(partition)

    def tell(self) -> bytes | None:
        return self._likely.tell()

    def hear(self, told: Mapping[int, bytes]) -> None:
        self._likely.hear(told)

    def sweep(self, slices: Sequence[pl.DataFrame], until: int) -> pl.DataFrame:
        if self._ranked.rows is None:
            self._likely.advance(until - 1)
        result = super().sweep(slices, until)
        if self._ranked.limit:
            self._check(until)
        return result

    def _arrive(self, batch: pl.DataFrame) -> tuple[Objects, Ints]:
        times, hashes = starts(batch), self._hashes(batch)
        places, chosen = self._window.places(times), followed(hashes)
        self._likely.note(hashes, self._streams(batch), places)
        some = self._new(batch.filter(chosen), places[chosen], self._audit.known)
        self._audit.arrive(some, times)
        return super()._arrive(batch)

    def _hashes(self, batch: pl.DataFrame) -> Hashes:
        keys = canonical(batch.select(self._ranked.keys))
        hashes: Hashes = keys.hash_rows(seed=_SEED).to_numpy()
        return hashes

    def _check(self, until: int) -> None:
        """Count the objects that the answer at the end of the tick lacks, and its places."""
        first, keys = self._firsts.now
        right = round(len(first) * self._precision)
        last = ABSENT
        if len(first) == self._ranked.limit:
            last = int(np.sort(keys)[-max(right, 1)])
        better = self._known.find(self._audit.above(last, until, self._rows))
        self._missed += SHARE * int(np.count_nonzero(~np.isin(better, first)))
        self._checked += len(first)

    @property
    def _precision(self) -> float:
        """How much of the answers was right so far, about."""
        return max(0.0, 1 - self._missed / self._checked) if self._checked else 1.0

    @property
    def measures(self) -> dict[str, float]:
        measures = super().measures
        measures["ranking_rows"] += len(self._audit.rows)
        checked = {"ranking_missed_estimate": self._missed, "ranking_checked": self._checked}
        return measures | {name: float(number) for name, number in checked.items()}

    @property
    def state_rows(self) -> int:
        return super().state_rows + len(self._audit.rows)

    @property
    def state_bytes(self) -> int:
        return super().state_bytes + self._likely.nbytes + self._audit.nbytes
