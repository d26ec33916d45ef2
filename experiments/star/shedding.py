"""What each way of shedding makes of the same streams."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from experiments.offline import best_join
from experiments.star.data import KEYS, Star
from tidemill.algebra import Scan, Schema, Shedding, SourceKind
from tidemill.physical.operator import with_validity
from tidemill.physical.operators.source import SourceExec
from tidemill.physical.operators.star import StarJoinExec
from tidemill.timeline import OPEN_END


class Total(NamedTuple):
    """What a join gives."""

    importance: float
    tuples: int


def optimal(star: Star, memory: int, life: int) -> Total:
    """OSSJ: the most important result."""
    best = best_join(
        *star.tables(), memory=memory, life=life, time="at", keys=KEYS, importance="importance"
    )
    return Total(best.importance, best.tuples)


def exact(star: Star, life: int) -> Total:
    """EXACT: a row of each stream comes at every instant, so that this memory is enough."""
    return optimal(star, 2 * life, life)


def largest(star: Star, memory: int, life: int, ties: Literal["lot", "importance"]) -> Total:
    """SJA-S: the largest result, and among these the one with the best lots, or importances."""
    best = best_join(
        *star.tables(), memory=memory, life=life, time="at", keys=KEYS, importance=ties, by="count"
    )
    parts = (best.outputs[f"{name}_importance"] for name in ("r", "s"))
    return Total(float(pc.sum(pc.min_element_wise(*parts)).as_py()), best.tuples)


def online(star: Star, life: int, shedding: Shedding) -> Total:
    """A policy that does not know what comes, on the operator."""
    node = _node(replace(shedding, importances=("r.importance", "s.importance")))
    operator = node.operator()
    batches = [
        _batch(table, prefix, life)
        for table, prefix in zip(star.tables(), ("r", "s", "f"), strict=True)
    ]
    operator.step(batches, [OPEN_END] * len(batches))
    measures = operator.measures
    return Total(measures["importance_given"], int(measures["results_given"]))


def _node(shedding: Shedding) -> StarJoinExec:
    stream = Schema.of(at=pa.int64(), value=pa.int64(), importance=pa.float64(), lot=pa.float64())
    relation = Scan("f", "f", Schema.of(a=pa.int64(), b=pa.int64()), SourceKind.CONSTANT)
    return StarJoinExec(
        tuple(SourceExec(Scan(name, name, stream)) for name in ("r", "s")),
        SourceExec(relation),
        (("r.value",), ("s.value",)),
        (("f.a",), ("f.b",)),
        shedding,
    )


def _batch(table: pa.Table, name: str, life: int) -> pl.DataFrame:
    """Rows of a stream live from when they come; those of the relation always."""
    rows = pl.DataFrame(table)
    start = rows["at"].to_numpy() if "at" in rows.columns else np.zeros(rows.height, np.int64)
    end = start + life if "at" in rows.columns else np.full(rows.height, OPEN_END)
    return with_validity(rows.rename({each: f"{name}.{each}" for each in rows.columns}), start, end)
