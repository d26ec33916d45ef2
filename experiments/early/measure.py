"""All plans of a setting, run by our operators: how long they take, and how many rows they move."""

from __future__ import annotations

from experiments.frame import timed  # isort: split

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from experiments.early.setting import Setting
from tests.checking.sources import Rows, opener, stream_source
from tidemill import Engine, Query
from tidemill.connectors.sinks import SinkRequest
from tidemill.optimize.early.plans import Mask
from tidemill.physical.operator import Exec
from tidemill.runtime.fabric import InProcess
from tidemill.runtime.interface import Job, Root
from tidemill.runtime.run import Run
from tidemill.timeline import TimeDomain


@dataclass(frozen=True)
class Effort:
    """How long to measure: so many ticks, each of so many seconds of the stream."""

    ticks: int
    tick: float


@dataclass(frozen=True)
class Measured:
    """Per second of the stream: seconds of one core, and rows into the late aggregate."""

    seconds: float
    rows: float


def measure(setting: Setting, mask: Mask, effort: Effort) -> Measured:
    """Run a plan with full windows; of the ticks that are measured, the middle one counts."""
    full = max(setting.lengths) / setting.second
    ends = [full + number * effort.tick for number in range(effort.ticks + 1)]
    tables = dict(zip(_names(setting), setting.tables(ends[-1]), strict=True))
    instants = np.array(ends) * setting.second
    sources = {
        name: stream_source(name, list(_ticks(table, instants)), "ts")
        for name, table in tables.items()
    }
    run = Run(InProcess(), opener(sources), bounded=True)
    job = Job(_plan(setting, mask, tables), TimeDomain.TICKS, SinkRequest(Rows()))
    run.revise({"q": Root(job)}, {})
    run.tick()
    before = _rows_joined(run)
    seconds = [timed(run.tick) for _ in range(effort.ticks)]
    rows = (_rows_joined(run) - before) / effort.ticks
    return Measured(median(seconds) / effort.tick, rows / effort.tick)


def _names(setting: Setting) -> list[str]:
    return [f"S{number}" for number in range(1, len(setting) + 1)]


def _ticks(table: pa.Table, ends: npt.ArrayLike) -> Iterator[pa.Table]:
    """The rows up to each end, then a tick without any: behind the last one, all windows end."""
    at = [0, *np.searchsorted(table["ts"].to_numpy(), ends).tolist()]
    yield from (table.slice(start, stop - start) for start, stop in pairwise(at))
    yield table.slice(0, 0)


def _rows_joined(run: Run) -> int:
    """Rows of the topmost join."""
    *_, top = (each for each in run.nodes.values() if each.operator.startswith("JoinExec"))
    return top.rows_out


def _plan(setting: Setting, mask: Mask, tables: dict[str, pa.Table]) -> Exec:
    """The text's query (Figure 3, on one join attribute), aggregated early as the mask says."""
    engine = Engine(runtime="inprocess")
    for name, table in tables.items():
        engine.stream(name, table, time="ts")
    query = engine.sql(_sql(setting, mask))
    assert isinstance(query, Query)
    return query.job.plan


def _sql(setting: Setting, mask: Mask) -> str:
    names = _names(setting)
    early = [name for name, wanted in zip(names, mask, strict=True) if wanted]
    hint = f"EARLY({', '.join(early)})" if early else "LATE"
    windows = zip(names, setting.lengths, strict=True)
    inputs = ", ".join(f"{name} WINDOW(RANGE {length})" for name, length in windows)
    joined = " AND ".join(f"{left}.j = {right}.j" for left, right in pairwise(names))
    groups = ", ".join(f"{name}.g" for name in names)
    columns = ", ".join(f"{name}.g AS g_{name}, SUM({name}.a) AS a_{name}" for name in names)
    return f"SELECT /*+ {hint} */ {columns} FROM {inputs} WHERE {joined} GROUP BY {groups}"
