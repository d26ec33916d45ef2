"""Rows of streams look up a relation on arrival."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from experiments.offline.meetings import Looked
from experiments.offline.terms import Terms, column, importances, instants, life, steps
from tidemill.algebra.types import name_of
from tidemill.errors import PlanError
from tidemill.timeline import Instants


def look_up(stream: pa.Table, relation: pa.Table, terms: Terms, side: int) -> Looked:
    """Rows of r (side 0) or s (side 1) with the rows of the relation active on their arrival.

    >>> stream = pa.table({"at": [1, 2], "a": [1, 1]})
    >>> relation = pa.table({"a": [1, 1], "until": [2, None]})
    >>> terms = Terms(2, (5, 5), ("at", "at"), ({"a": "a"},) * 2, active=(None, "until"))
    >>> look_up(stream, relation, terms, 0)[:2]
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    name, keys, time = "rs"[side], terms.keys[side], terms.time[side]
    times = instants(stream, name, time)
    rows, facts = _matching(stream, name, relation, keys)
    begins, ends = activity(relation, terms.active)
    active = (begins[facts] <= times[rows]) & (times[rows] < ends[facts])
    own_life = life(stream, time, terms.life[side])
    worth = importances(stream, name, terms.importance[side])
    return Looked(rows[active], facts[active], times, worth, own_life)


def _matching(
    stream: pa.Table, name: str, relation: pa.Table, keys: dict[str, str]
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of rows with equal keys; NULL equals nothing."""
    left = {f"k{at}": column(stream, name, mine) for at, mine in enumerate(keys)}
    right = {f"k{at}": column(relation, "f", theirs) for at, theirs in enumerate(keys.values())}
    for (mine, theirs), one, other in zip(keys.items(), left.values(), right.values(), strict=True):
        if one.type != other.type:
            raise PlanError(
                f"`{mine}` of `{name}` is {name_of(one.type)}, "
                f"`{theirs}` of `f` is {name_of(other.type)}",
                help="cast one of them: keys have one type",
            )
    found = _numbered(left, "row").join(_numbered(right, "fact"), on=list(left))
    found = found.sort("row", "fact")
    return found["row"].to_numpy(), found["fact"].to_numpy()


def _numbered(columns: dict[str, pa.ChunkedArray], name: str) -> pl.DataFrame:
    frame = pl.DataFrame(pl.from_arrow(pa.table(columns)))
    return frame.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(name))


def activity(
    relation: pa.Table, active: tuple[str | None, str | None]
) -> tuple[Instants, Instants]:
    """From when and until when each row of the relation is active; NULL is no bound."""
    limits = np.iinfo(np.int64)
    begins = _bounds(relation, active[0], limits.min)
    return begins, _bounds(relation, active[1], limits.max)


def _bounds(relation: pa.Table, name: str | None, unbounded: int) -> Instants:
    found = np.full(relation.num_rows, unbounded)
    if name is not None:
        values = column(relation, "f", name)
        found[values.is_valid().to_numpy()] = steps(values.drop_null())
    return found
