"""The best join of tables: results, what they amount to, and which rows were kept for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from experiments.offline.lookups import look_up
from experiments.offline.meetings import Meetings, meet
from experiments.offline.optimum import NEVER, optimum
from experiments.offline.terms import Terms
from tidemill.engine.tables import time_domain
from tidemill.errors import PlanError
from tidemill.timeline import Instants


@dataclass(frozen=True)
class BestJoin:
    """The best results, what they amount to, and which rows were kept for them.

    `outputs` has the columns of the tables as r_…, s_… and f_…, the `importance` of every result
    and its `time`. `kept` has the rows that were kept, as numbers within their tables, each until
    the time of the last result that it was kept for. The exact join is that of enough memory.
    """

    importance: float
    tuples: int
    outputs: pa.Table
    kept: pa.Table
    exact_importance: float
    exact_tuples: int


def join_tables(r: pa.Table, s: pa.Table, f: pa.Table, terms: Terms) -> BestJoin:
    """The best join of whole tables."""
    left, right = look_up(r, f, terms, 0), look_up(s, f, terms, 1)
    _check_times(r, s, f, terms)
    met = meet(left, right)
    best = optimum(met, left.times, right.times, terms.slots, terms.by)
    chosen = met.only(best.chosen)
    kind = r.schema.field(terms.time[0]).type
    return BestJoin(
        float(chosen.importances.sum()),
        len(chosen.times),
        _outputs(r, s, f, chosen, kind),
        pa.concat_tables([_kept("r", best.r, kind), _kept("s", best.s, kind)]),
        float(met.importances.sum()),
        len(met.times),
    )


def _check_times(r: pa.Table, s: pa.Table, f: pa.Table, terms: Terms) -> None:
    """Instants of all tables are on one axis: ticks, or timestamps."""
    columns = [(r, "r", terms.time[0]), (s, "s", terms.time[1])]
    columns += [(f, "f", name) for name in terms.active if name is not None]
    known = [
        (table.schema.field(name).type, name, where)
        for table, where, name in columns
        if not pa.types.is_null(table.schema.field(name).type)
    ]
    if len({time_domain(where, name, kind) for kind, name, where in known}) > 1:
        told = ", ".join(f"`{name}` of `{where}` is {kind}" for kind, name, where in known)
        raise PlanError(f"times of two kinds: {told}", help="use ticks or timestamps for all")


def _outputs(r: pa.Table, s: pa.Table, f: pa.Table, met: Meetings, kind: pa.DataType) -> pa.Table:
    columns = {"time": _times(met.times, kind), "importance": pa.array(met.importances)}
    for name, table, rows in (("r", r, met.r), ("s", s, met.s), ("f", f, met.f)):
        taken = table.take(pa.array(rows))
        columns |= {f"{name}_{each}": taken.column(each) for each in taken.column_names}
    return pa.table(columns)


def _kept(stream: str, until: Instants, kind: pa.DataType) -> pa.Table:
    rows = np.flatnonzero(until != NEVER)
    return pa.table(
        {
            "stream": pa.repeat(stream, len(rows)),
            "row": pa.array(rows),
            "until": _times(until[rows], kind),
        }
    )


def _times(steps: Instants, kind: pa.DataType) -> pa.Array:
    """Instants in the type of the user's time column."""
    if pa.types.is_integer(kind):
        return pa.array(steps).cast(kind)
    return pa.array(steps).cast(pa.timestamp("us")).cast(kind)
