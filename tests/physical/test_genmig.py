"""The migrations of the text: an old plan, both plans fused at the split, the new plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any

import polars as pl
import pytest

from tests.golden.loader import Case, cases, physical_stream, record, scan_of
from tests.golden.plans import build
from tidemill.algebra import Plan, SourceKind, TimeWindow
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec, empty_batch
from tidemill.physical.operators.fuse import FuseExec
from tidemill.physical.operators.migrating import MigratingExec
from tidemill.physical.operators.reference_point import ReferencePointExec
from tidemill.physical.operators.source import SourceExec
from tidemill.runtime.operators import Arrival, Graph
from tidemill.testing import assert_snapshots_equal
from tidemill.timeline import OPEN_END

RUNS = [case for case in cases("genmig") if case.operator == "migration"]
EXAMPLES = [case for case in cases("genmig") if case.operator == "plan_equivalence"]
LATER = "'"
"""Marks the streams that the new plan reads, so that no part of it runs already."""

Raw = dict[str, list[list[Any]]]


def raw(case: Case, scale: int) -> Raw:
    """The inputs without their windows, in time."""
    elements = case.facts.get("raw_inputs") or case.inputs
    return {name: [[v, scale * t] for v, t, *_ in rows] for name, rows in elements.items()}


def plan_of(tree: Any, leaves: dict[str, Plan]) -> Plan:
    if isinstance(tree, str):
        return leaves[tree]
    operator, params, *inputs = tree
    return build(operator, params, *(plan_of(child, leaves) for child in inputs))


def lowered(tree: Any, streams: Raw, window: int, mark: str = "") -> Exec:
    scans = {n: scan_of(n, rows, SourceKind.STREAM) for n, rows in streams.items()}
    marked: dict[str, Plan] = {n: replace(scan, source=n + mark) for n, scan in scans.items()}
    leaves: dict[str, Plan] = {n: TimeWindow(scan, window) for n, scan in marked.items()}
    return lower(plan_of(tree, leaves), {})


@dataclass(frozen=True)
class Migration:
    """A migration of the text: its streams in time, when it starts, and both plans."""

    case: Case
    streams: Raw
    window: int
    start: int

    @classmethod
    def of(cls, case: Case, scale: int = 1) -> Migration:
        latest = max(case.params["latest_starts"].values())
        return cls(case, raw(case, scale), scale * case.params["window"], scale * latest)

    def run(self, node: type[MigratingExec], split: int, seed: int | None = None) -> pl.DataFrame:
        """The old plan, from the start both, behind the split the new one."""
        old = lowered(self.case.params["old_plan"], self.streams, self.window).with_eager(True)
        new = lowered(self.case.params["new_plan"], self.streams, self.window, LATER).with_eager(
            True
        )
        graph = Graph(old)
        found = [empty_batch(old.schema)]
        begin = -1
        for end in self.ticks(seed):
            found += [rows for rows, _ in graph.step(self._arrivals(graph, begin, end))]
            marks = {n: p.watermark for n, p in zip(graph.nodes, graph.progress, strict=True)}
            if begin < self.start <= end:
                graph.revise([node(old, new, split)])
            elif new in marks and min(marks[old], marks[new]) >= split:
                graph.revise([new])
                old = new
            begin = end
        return pl.concat(found)

    def ticks(self, seed: int | None) -> list[int]:
        """The last instants of ticks: every row has one, or any; one ends where it starts."""
        times = sorted({self.start, *(t for rows in self.streams.values() for _, t in rows)})
        if seed is not None:
            random = Random(seed)
            times = sorted({self.start, *random.sample(times, random.randint(0, len(times)))})
        return [*times, OPEN_END - 1]

    def _arrivals(self, graph: Graph, begin: int, end: int) -> list[Arrival]:
        return [self._arrival(leaf, begin, end) for leaf in graph.leaves]

    def _arrival(self, leaf: Exec, begin: int, end: int) -> Arrival:
        assert isinstance(leaf, SourceExec)
        rows = self.streams[leaf.scan.source.rstrip(LATER)]
        come = [(*record(v).values(), t, t + 1) for v, t in rows if begin < t <= end]
        schema = empty_batch(leaf.schema).schema
        return pl.DataFrame(come, schema=schema, orient="row"), end + 1


def check(case: Case, found: pl.DataFrame, scale: int = 1) -> None:
    wanted = [[v, scale * start, scale * end] for v, start, end in case.expected]
    horizon = scale * case.horizon
    instants = range(horizon + 1)
    assert_snapshots_equal(found.to_arrow(), physical_stream(wanted, horizon), instants)


@pytest.mark.parametrize("seed", [None, 0, 1, 2])
@pytest.mark.parametrize("case", RUNS, ids=lambda case: case.id)
def test_split_between_instants(case: Case, seed: int | None) -> None:
    """Times are doubled, so that the split of the text is an instant at which nothing happens."""
    split = int(2 * case.params["split_time"])
    check(case, Migration.of(case, 2).run(FuseExec, split, seed), 2)


@pytest.mark.parametrize("seed", [None, 0, 1])
@pytest.mark.parametrize("later", [0, 1, 10])
@pytest.mark.parametrize("case", RUNS, ids=lambda case: case.id)
def test_split_at_an_instant(case: Case, later: int, seed: int | None) -> None:
    """No fraction of an instant is needed: rows that end at the split do not hold there."""
    migration = Migration.of(case)
    check(case, migration.run(FuseExec, migration.start + migration.window + later, seed))


@pytest.mark.parametrize("case", RUNS, ids=lambda case: case.id)
def test_reference_points_are_right_for_joins_only(case: Case) -> None:
    migration = Migration.of(case)
    found = migration.run(ReferencePointExec, migration.start + migration.window)
    if case.id == "genmig.run.join_order":
        check(case, found)
    else:
        with pytest.raises(AssertionError, match="snapshots differ"):
            check(case, found)


@pytest.mark.parametrize("case", EXAMPLES, ids=lambda case: case.id)
def test_where_parallel_track_doubles(case: Case) -> None:
    """Example 28.1: marks of old and new rows are not enough for duplicates."""
    migration = Migration(case, raw(case, 1), 101, case.params["migration_start"])
    check(case, migration.run(FuseExec, 20 + migration.window))
    error = case.facts["parallel_track_error"]
    both = [*error["old_results"], *error["new_results"]]
    copies = [sum(start <= t < end for _, start, end in both) for t in range(case.horizon)]
    named = error["doubled_instants"]
    doubled = [t for t, number in enumerate(copies) if number == 2]
    assert doubled == [*range(named["first"], named["last"] + 1)]
