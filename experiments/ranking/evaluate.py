"""How much a ranking keeps and how good its answers are, row by row, as the text measures it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa

from experiments.ranking.incomplete import Arrivals
from tidemill.algebra import AggregateCall, Scan, Schema, column
from tidemill.algebra.ranking import Promise, Ranked, Ranking, Strategy
from tidemill.physical.lowering import lower
from tidemill.physical.operator import with_validity
from tidemill.runtime.operators import Graph
from tidemill.timeline import OPEN_END, VALID_FROM, VALID_TO

EVALUATIONS = 50

Answer = Sequence[tuple[int, float]]
"""Objects and their scores, the first one first."""


@dataclass(frozen=True)
class Question:
    """The first objects by the sum of their values, no more than one of each stream."""

    streams: int
    window: int
    limit: int

    def plan(self, strategy: Strategy) -> Ranking:
        schema = Schema.of(stream=pa.int64(), id=pa.int64(), value=pa.float64())
        calls = (AggregateCall("score", "SUM", "s.value", pa.float64()),)
        items = (("id", column("s.id", pa.int64())), ("score", column("score", pa.float64())))
        ranked = Ranked(
            keys=("s.id",),
            calls=calls,
            items=items,
            score="score",
            limit=self.limit,
            size=self.window,  # a row comes at every instant
            rows=None,
            streams=(Promise(1, (1.0,)),) * self.streams,
            stream="s.stream",
            strategy=strategy,
        )
        return Ranking(Scan("s", "s", schema), ranked)

    def answer(self, rows: Arrivals, now: int) -> Answer:
        """The true one."""
        part = slice(max(0, now - self.window + 1), now + 1)
        objects, places = np.unique(rows.id[part], return_inverse=True)
        scores = np.bincount(places, rows.value[part])
        first = np.lexsort([objects, -scores])[: self.limit]
        return list(zip(objects[first].tolist(), scores[first].tolist(), strict=True))


class Measured(NamedTuple):
    """Means over all evaluations: instances that are kept, share of true objects, error."""

    size: float
    precision: float
    error: float


def rows_needed(window: int) -> int:
    """A window to fill, one in which what is kept settles, and half of one to look at."""
    return 5 * window // 2


def instants_of(rows: Arrivals, question: Question) -> list[int]:
    """When to look: 50 times, after two windows."""
    return np.linspace(2 * question.window, len(rows) - 1, EVALUATIONS).astype(int).tolist()


def evaluate(rows: Arrivals, question: Question, strategy: Strategy) -> Measured:
    """Run a strategy, and look at it 50 times.

    Every row is a tick of its own, so that all is pruned row by row, as in the text; only those
    that fill the window come at once.
    """
    instants = instants_of(rows, question)
    graph = Graph(lower(question.plan(strategy), {}))
    sizes, found = {}, []
    for batch, until in _ticks(rows, question.window):
        ((versions, _),) = graph.step([(batch, until)])
        found.append(versions)
        sizes[until - 1] = graph.progress[-1].measures["ranking_instances"]
    ((versions, _),) = graph.step([(batch.clear(), OPEN_END)])
    answers = _answers(pl.concat([*found, versions]), instants)
    qualities = [quality(question.answer(rows, now), answers[now]) for now in instants]
    precision, error = np.mean(qualities, axis=0).tolist()
    return Measured(float(np.mean([sizes[now] for now in instants])), precision, error)


def quality(true: Answer, given: Answer) -> tuple[float, float]:
    """The share of true objects that are given, and the mean difference of scores, by place.

    >>> quality([(1, 2.0), (2, 1.5)], [(1, 2.0), (3, 1.0)])
    (0.5, 0.25)
    """
    hits = {item for item, _ in true} & {item for item, _ in given}
    scores = [score for _, score in given] + [0.0] * (len(true) - len(given))
    differences = [abs(score - other) for (_, score), other in zip(true, scores, strict=True)]
    return len(hits) / len(true), sum(differences) / len(true)


def _ticks(rows: Arrivals, first: int) -> Iterator[tuple[pl.DataFrame, int]]:
    """Rows, and the instant before which there are no more."""
    columns = {"s.stream": rows.stream, "s.id": rows.id, "s.value": rows.value}
    at = np.arange(len(rows))
    batch = with_validity(pl.DataFrame(columns), at, at + 1)
    yield batch.head(first), first
    for now in range(first, len(rows)):
        yield batch.slice(now, 1), now + 1


def _answers(versions: pl.DataFrame, instants: Sequence[int]) -> dict[int, Answer]:
    """What held at these instants."""
    found = {}
    for now in instants:
        held = (pl.col(VALID_FROM) <= now) & (pl.col(VALID_TO) > now)
        rows = versions.filter(held).sort("score", "id", descending=[True, False])
        found[now] = list(rows.select("id", "score").iter_rows())
    return found
