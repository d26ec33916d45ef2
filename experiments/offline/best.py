"""The best join of two archived streams through a relation that a bounded memory allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NotRequired, TypedDict, Unpack, overload

import pyarrow as pa

from experiments.offline.optimum import By
from experiments.offline.result import BestJoin, join_tables
from experiments.offline.split import join_parts
from experiments.offline.terms import Keys, Life, Terms, both, names
from tidemill.algebra.tables import to_tables
from tidemill.engine.tables import is_spark_frame
from tidemill.errors import PlanError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Settings(TypedDict):
    """The keywords of `best_join`."""

    memory: int
    life: Life | tuple[Life, Life]
    time: str | tuple[str, str]
    keys: tuple[Keys, Keys]
    importance: NotRequired[str | tuple[str | None, str | None] | None]
    active: NotRequired[tuple[str | None, str | None]]
    by: NotRequired[By]
    split: NotRequired[int]


@overload
def best_join(r: DataFrame, s: DataFrame, f: Any, **settings: Unpack[Settings]) -> DataFrame: ...


@overload
def best_join(r: Any, s: Any, f: Any, **settings: Unpack[Settings]) -> BestJoin: ...


def best_join(
    r: Any,
    s: Any,
    f: Any,
    *,
    memory: int,
    life: Life | tuple[Life, Life],
    time: str | tuple[str, str],
    keys: tuple[Keys, Keys],
    importance: str | tuple[str | None, str | None] | None = None,
    active: tuple[str | None, str | None] = (None, None),
    by: By = "importance",
    split: int = 1,
) -> BestJoin | DataFrame:
    """Join streams r and s through the relation f, as well as `memory` rows can, half for each.

    A row of one stream meets a row of the other if a row of f matches both and was active, from
    the first to before the second of the columns `active`, when each of them came; the older one
    must have been kept till then, and lives for `life`. `keys` are the columns that r shares with
    f, and those that s shares with f. The importance of a result is the smaller one of its parts.
    The best join is the most important, or the largest if `by` is "count". What is said of both
    streams alike need not be said twice.

    Tables are those of pyarrow, pandas or polars. With DataFrames of Spark the result is a
    DataFrame of what `outputs` has. `split` cuts the work into so many tasks, along f: what no row
    of f connects is looked at alone. It cuts memory, too, so that the result is at most as good.

    >>> r = {"at": [0, 1, 2], "a": [1, 1, 2], "worth": [5, 2, 9]}
    >>> s = {"at": [1, 2, 3], "b": [7, 8, 7], "worth": [3, 9, 4]}
    >>> f = {"a": [1, 1, 2], "b": [7, 8, 7]}
    >>> best = best_join(r, s, f, memory=2, life=5, time="at", keys=("a", "b"), importance="worth")
    >>> best.importance, best.tuples, best.exact_importance, best.exact_tuples
    (17.0, 5, 25.0, 8)
    >>> best.outputs.select(["time", "r_at", "s_at", "importance"]).to_pylist()[-1]
    {'time': 3, 'r_at': 0, 's_at': 3, 'importance': 4.0}
    >>> best.kept.to_pylist()
    [{'stream': 'r', 'row': 0, 'until': 3}, {'stream': 's', 'row': 0, 'until': 2}]
    """
    pairs = names(keys[0]), names(keys[1])
    terms = Terms(memory, both(life), both(time), pairs, both(importance), active, by)
    if split < 1:
        raise PlanError(f"{split} tasks do nothing", help="split is 1 or more")
    if is_spark_frame(r):
        from experiments.offline.spark import join_frames

        return join_frames(r, s, f, terms, split)
    tables = _table("r", r), _table("s", s), _table("f", f)
    return join_parts(*tables, terms, split) if split > 1 else join_tables(*tables, terms)


def _table(name: str, source: Any) -> pa.Table:
    return pa.concat_tables(to_tables(name, source))
