"""Run real operators on random streams, and measure what they put out and keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from tidemill.algebra import nodes
from tidemill.algebra.plan import Plan
from tidemill.algebra.schema import Schema
from tidemill.optimize.cost.characteristics import Characteristics
from tidemill.optimize.statistics import Statistics, StreamStatistics
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec
from tidemill.physical.operators.source import SourceExec
from tidemill.runtime.operators import Graph
from tidemill.timeline import OPEN_END, VALID_FROM, VALID_TO

TICKS = 67
"""So many steps a run is cut into, which are out of step with windows that slide; the first third
fills the windows."""


@dataclass(frozen=True)
class Feed:
    """A random stream: rows of one of `values` values start `distance` instants apart on average
    and hold for `length`."""

    distance: float
    length: int = 1
    values: int = 10

    def rows(self, alias: str, span: int, rng: np.random.Generator) -> pl.DataFrame:
        count = round(span / self.distance)
        start = np.sort(rng.integers(0, span, count))
        return pl.DataFrame(
            {
                f"{alias}.k": rng.integers(0, self.values, count),
                f"{alias}.v": rng.integers(0, 1000, count),
                VALID_FROM: start,
                VALID_TO: start + self.length,
            }
        )

    @property
    def known(self) -> StreamStatistics:
        distinct = {"k": float(self.values), "v": 1000.0}
        return StreamStatistics(1 / self.distance, self.length, distinct=distinct)


@dataclass(frozen=True)
class Measured:
    """The result of a run as a stream; rows and bytes that its operators kept on average."""

    stream: Characteristics
    state_rows: float
    state_bytes: float


def scan(name: str, feed: Feed, columns: Sequence[str], alias: str | None = None) -> nodes.Scan:
    kind = nodes.SourceKind.STREAM if feed.length == 1 else nodes.SourceKind.INTERVALS
    schema = Schema.of(**dict.fromkeys(columns, pa.int64()))
    return nodes.Scan(name, alias or name, schema, kind)


def statistics(**feeds: Feed) -> Statistics:
    return Statistics({name: feed.known for name, feed in feeds.items()})


def measure(plan: Plan, feeds: dict[str, Feed], span: int, seed: int = 7) -> Measured:
    """Run a plan, logical or physical, over `span` instants."""
    root = plan if isinstance(plan, Exec) else lower(plan, {})
    graph = Graph(root)
    rng = np.random.default_rng(seed)
    scans = [leaf.scan for leaf in graph.leaves if isinstance(leaf, SourceExec)]
    rows = [feeds[scan.source].rows(scan.alias, span, rng) for scan in scans]
    rows = [
        frame[[*scan.schema.names, VALID_FROM, VALID_TO]]
        for frame, scan in zip(rows, scans, strict=True)
    ]
    marks = [span * tick // TICKS for tick in range(1, TICKS + 1)]
    results, states = [], []
    for begin, until in zip([0, *marks], marks, strict=False):
        arrivals = [
            (frame.filter(pl.col(VALID_FROM).is_between(begin, until, closed="left")), until)
            for frame in rows
        ]
        results.append(graph.step(arrivals)[0][0])
        states.append([_total(graph, "state_rows"), _total(graph, "state_bytes")])
    results.append(graph.step([(frame.clear(), OPEN_END) for frame in rows])[0][0])
    return _measured(pl.concat(results), span, states)


def _total(graph: Graph, name: str) -> int:
    return sum(getattr(progress, name) for progress in graph.progress)


def _measured(result: pl.DataFrame, span: int, states: list[list[int]]) -> Measured:
    """What starts in the second third of the run, where windows are full and ends are known."""
    low, high = span // 3, 2 * span // 3
    seen = result.filter(pl.col(VALID_FROM).is_between(low, high, closed="left"))
    lengths = (seen[VALID_TO] - seen[VALID_FROM]).mean()
    stream = Characteristics((high - low) / seen.height, float(lengths))
    return Measured(stream, *np.mean(states[TICKS // 3 :], axis=0).tolist())
