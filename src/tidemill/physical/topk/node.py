"""Top-k: rows in order, and those at the first places."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from sortedcontainers import SortedList

from tidemill.algebra.nodes import SortKey, TopK
from tidemill.algebra.plan import Plan
from tidemill.algebra.schema import Schema
from tidemill.physical.operator import (
    Exec,
    Operator,
    Sweep,
    empty_frame,
    ends,
    payload,
    starts,
    with_validity,
)
from tidemill.physical.order import Rank, rank_keys
from tidemill.physical.release import Release
from tidemill.physical.rows import RowStore
from tidemill.timeline import OPEN_END


@dataclass(frozen=True)
class TopKExec(Exec):
    """Keep all rows in order and report those at the places offset .. offset + limit."""

    child: Plan
    order: tuple[SortKey, ...]
    limit: int
    offset: int = 0
    eager: bool = False

    @cached_property
    def schema(self) -> Schema:
        return self.child.schema

    def details(self) -> str:
        return TopK(self.child, self.order, self.limit, self.offset).details()

    def operator(self) -> Operator:
        return _TopK(self)


class _TopK(Sweep):
    def __init__(self, node: TopKExec) -> None:
        super().__init__(node.schema)
        self._node = node
        self._rows = RowStore(empty_frame(node.schema))
        self._ranked: SortedList[tuple[Rank, int]] = SortedList()
        self._ends: list[tuple[int, int]] = []  # a heap of (end, row)
        self._ranks: dict[int, Rank] = {}
        self._since: dict[int, int] = {}  # the rows at the top, and since when
        self._release = Release(node.eager)

    def sweep(self, slices: Sequence[pl.DataFrame], until: int) -> pl.DataFrame:
        done: list[tuple[int, int, int]] = []
        for time, arrivals in self._arrivals(slices[0]):
            self._expire_before(time, done)
            self._remove_at(time)
            for row, rank in arrivals:
                self._ranks[row] = rank
                self._ranked.add((rank, row))
            self._settle(time, done)
        self._expire_before(until, done)
        if self._release.is_due(until, slices[0].height, len(self._since)):
            done.extend((row, since, until) for row, since in self._since.items() if since < until)
            self._since = dict.fromkeys(self._since, until)
        result = self._batch(done)
        self._compact()
        return result

    def _arrivals(self, batch: pl.DataFrame) -> list[tuple[int, list[tuple[int, Rank]]]]:
        """New rows by their start."""
        first = len(self._rows)
        self._rows.append(payload(batch))
        ranks = rank_keys(payload(batch), self._node.order)
        by_time: dict[int, list[tuple[int, Rank]]] = {}
        bounds = zip(starts(batch).tolist(), ends(batch).tolist(), ranks, strict=True)
        for row, (start, end, rank) in enumerate(bounds, first):
            by_time.setdefault(start, []).append((row, rank))
            if end < OPEN_END:
                heapq.heappush(self._ends, (end, row))
        return sorted(by_time.items(), key=lambda item: item[0])

    def _expire_before(self, until: int, done: list[tuple[int, int, int]]) -> None:
        """Remove rows in the order of their ends."""
        while self._ends and self._ends[0][0] < until:
            time = self._ends[0][0]
            self._remove_at(time)
            self._settle(time, done)

    def _remove_at(self, time: int) -> None:
        while self._ends and self._ends[0][0] == time:
            row = heapq.heappop(self._ends)[1]
            self._ranked.remove((self._ranks.pop(row), row))

    def _settle(self, time: int, done: list[tuple[int, int, int]]) -> None:
        """Compare the top with what it was before."""
        low, high = self._node.offset, self._node.offset + self._node.limit
        top = {row for _, row in self._ranked[low:high]}
        for row in [row for row in self._since if row not in top]:
            since = self._since.pop(row)
            if since < time:
                done.append((row, since, time))
        for row in top:
            self._since.setdefault(row, time)

    def _batch(self, done: list[tuple[int, int, int]]) -> pl.DataFrame:
        row, since, time = np.array(done, dtype=np.int64).reshape(-1, 3).T
        return with_validity(self._rows.take(row), since, time)

    def _compact(self) -> None:
        total = len(self._rows)
        if total < 1024 or len(self._ranks) * 2 > total:
            return
        kept = np.zeros(total, dtype=np.bool_)
        kept[list(self._ranks)] = True
        moved = (np.cumsum(kept) - 1).tolist()
        self._rows.keep(kept)
        self._ranks = {moved[row]: rank for row, rank in self._ranks.items()}
        self._ranked = SortedList((rank, row) for row, rank in self._ranks.items())
        self._ends = [(end, moved[row]) for end, row in self._ends]
        self._since = {moved[row]: since for row, since in self._since.items()}

    def output_watermark(self, until: int) -> int:
        return self._release.watermark

    @property
    def state_rows(self) -> int:
        return len(self._ranks) + self.waiting_rows

    @property
    def state_bytes(self) -> int:
        return self._rows.nbytes + 300 * len(self._ranks) + self.waiting_bytes
