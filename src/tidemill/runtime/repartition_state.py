"""What operators remember, repartitioned: to other partitions, or by other hashes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from tidemill.physical.mechanisms.arrays import Bools
from tidemill.physical.mechanisms.keys import KeyTable
from tidemill.physical.operator import Exec, Operator, Own
from tidemill.physical.operators.join.side import Side
from tidemill.runtime.codec.names import remembered
from tidemill.runtime.operator_progress import OperatorProgress
from tidemill.runtime.operators import Graph, places_of
from tidemill.runtime.partitioning import partition_of
from tidemill.stages.distribution import Distribution

Parts = Mapping[Exec, Sequence[tuple[Operator | None, OperatorProgress]]]
"""By old part, what it was in every partition."""


class Share:
    """What belongs to one partition of a stage."""

    def __init__(
        self, distributions: Sequence[Sequence[Distribution]], partition: int, partitions: int
    ) -> None:
        self._distributions = distributions
        self._partition = partition
        self._partitions = partitions

    def give(self, graph: Graph, parts: Parts, carried: Mapping[Exec, Exec]) -> None:
        """Let fresh operators remember what belongs here; `carried` are old parts by new ones."""
        state = []
        places = places_of(carried)
        pairs = zip(graph.nodes, self._distributions, graph.state, strict=True)
        for node, distributions, (operator, progress) in pairs:
            place = places.get(node, node)
            known = None if place is None else parts.get(place)
            if known is not None:
                if operator is not None:
                    operator = self._shared(
                        node, distributions, operator, [old for old, _ in known]
                    )
                progress = self._progress(node, operator, [done for _, done in known])
            state.append((operator, progress))
        graph.state = state

    def _shared(
        self,
        node: Exec,
        distributions: Sequence[Distribution],
        operator: Operator,
        others: Sequence[Any],
    ) -> Operator:
        if node.is_whole:
            return operator if self._partition else self._whole(node, others[0])
        own = [
            [self._own(distribution, old) for distribution in distributions]
            for old in range(len(others))
        ]
        operator.share(others, own)
        return operator

    def _whole(self, node: Exec, operator: Operator) -> Operator:
        """It is all in the first partition, and stays there."""
        operator.take_over(node)
        return operator

    def _own(self, distribution: Distribution, old: int) -> Own:
        """Which rows belong here of those that were in an old partition."""
        if distribution.single:
            return partial(_all_or_none, self._partition == 0)
        if distribution.everywhere:
            return partial(_all_or_none, old == 0)
        if distribution.way is None:
            return partial(_all_or_none, old % self._partitions == self._partition)
        return partial(_hashed, distribution.way, self._partition, self._partitions)

    def _progress(
        self, node: Exec, operator: Operator | None, known: Sequence[OperatorProgress]
    ) -> OperatorProgress:
        """The first partition reports what was done; all report how far time has come."""
        total = known[0].copy()
        for other in known[1:]:
            total.merge(other)
        mine = OperatorProgress(node.label, watermark=total.watermark, reached=total.reached)
        if self._partition == 0:
            mine = total
            mine.operator = node.label
        if operator is not None:
            mine.count_state(operator.state_rows, operator.state_bytes)
        return mine


def _all_or_none(chosen: bool, rows: pl.DataFrame) -> Bools:
    return np.full(rows.height, chosen)


def _hashed(way: Sequence[str], partition: int, partitions: int, rows: pl.DataFrame) -> Bools:
    found: Bools = partition_of(rows, way, partitions) == partition
    return found


def rehash(part: Any) -> None:
    """Let all that a part of an operator remembers be found by the hashes of today."""
    if isinstance(part, KeyTable | Side):
        part.rehash()
    elif isinstance(part, list | tuple):
        for each in part:
            rehash(each)
    else:
        for name in remembered(type(part)) or ():
            rehash(getattr(part, name))
