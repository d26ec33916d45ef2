"""The migrations of the text: an old plan, both plans fused at the split, the new plan."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import polars as pl
import pytest

from tests.golden.loader import Case, cases, physical_stream, record, scan_of
from tests.golden.plans import build
from tidemill.algebra import Plan, SourceKind, TimeWindow
from tidemill.physical.fuse import FuseExec
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec, empty_batch
from tidemill.physical.reference_point import ReferencePointExec
from tidemill.physical.source import SourceExec
from tidemill.runtime.graph import Graph
from tidemill.testing import assert_snapshots_equal
from tidemill.timeline import OPEN_END

RUNS = [case for case in cases("genmig") if case.operator == "migration"]
EXAMPLES = [case for case in cases("genmig") if case.operator == "plan_equivalence"]
LATER = "'"
"""Marks the streams that the new plan reads: they begin when the migration does."""

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


def random_ticks(random: Random | None, streams: Raw, since: int) -> list[int]:
    """The ends of ticks: one per row, one for all that comes after the start, or any."""
    times = sorted({t for rows in streams.values() for _, t in rows})
    if random is None:
        return times
    return sorted({since, *random.sample(times, random.randint(0, len(times)))})


def run(root: Exec, streams: Raw, ticks: list[int], since: int) -> pl.DataFrame:
    """Feed both plans; the new one sees what comes after `since`."""
    graph = Graph([root])
    found = [empty_batch(root.schema)]
    for low, high in zip([-1, *ticks], [*ticks, OPEN_END - 1], strict=True):
        arrivals = []
        for leaf in graph.leaves:
            assert isinstance(leaf, SourceExec)
            arrivals.append(arrival(leaf, streams, low, high, since))
        found += [rows for rows, _ in graph.step(arrivals)]
    return pl.concat(found)


def arrival(
    leaf: SourceExec, streams: Raw, low: int, high: int, since: int
) -> tuple[pl.DataFrame, int]:
    name, late = leaf.scan.source.rstrip(LATER), leaf.scan.source.endswith(LATER)
    rows = [
        (*record(v).values(), t, t + 1)
        for v, t in streams[name]
        if low < t <= high and not (late and t <= since)
    ]
    schema = empty_batch(leaf.schema).schema
    return pl.DataFrame(rows, schema=schema, orient="row"), high + 1


@pytest.mark.parametrize("seed", [None, 0, 1, 2])
@pytest.mark.parametrize("case", RUNS, ids=lambda case: case.id)
def test_split_between_instants(case: Case, seed: int | None) -> None:
    """Times are doubled, so that the split of the text is an instant at which nothing happens."""
    streams, window = raw(case, 2), 2 * case.params["window"]
    since = 2 * max(case.params["latest_starts"].values())
    old = lowered(case.params["old_plan"], streams, window)
    new = lowered(case.params["new_plan"], streams, window, LATER)
    ticks = random_ticks(None if seed is None else Random(seed), streams, since)
    found = run(FuseExec(old, new, int(2 * case.params["split_time"])), streams, ticks, since)
    doubled = [[v, 2 * start, 2 * end] for v, start, end in case.expected]
    horizon = 2 * case.horizon
    assert_snapshots_equal(found.to_arrow(), physical_stream(doubled, horizon), range(horizon + 1))


@pytest.mark.parametrize("seed", [None, 0, 1])
@pytest.mark.parametrize("later", [0, 1, 10])
@pytest.mark.parametrize("case", RUNS, ids=lambda case: case.id)
def test_split_at_an_instant(case: Case, later: int, seed: int | None) -> None:
    """No fraction of an instant is needed: rows that end at the split do not hold there."""
    streams, window = raw(case, 1), case.params["window"]
    since = max(case.params["latest_starts"].values())
    old = lowered(case.params["old_plan"], streams, window)
    new = lowered(case.params["new_plan"], streams, window, LATER)
    ticks = random_ticks(None if seed is None else Random(seed), streams, since)
    found = run(FuseExec(old, new, since + window + later), streams, ticks, since)
    wanted = physical_stream(case.expected, case.horizon)
    assert_snapshots_equal(found.to_arrow(), wanted, range(case.horizon + 1))


@pytest.mark.parametrize("case", RUNS, ids=lambda case: case.id)
def test_reference_points_are_right_for_joins_only(case: Case) -> None:
    streams, window = raw(case, 1), case.params["window"]
    since = max(case.params["latest_starts"].values())
    old = lowered(case.params["old_plan"], streams, window)
    new = lowered(case.params["new_plan"], streams, window, LATER)
    ticks = random_ticks(None, streams, since)
    found = run(ReferencePointExec(old, new, since + window + 1), streams, ticks, since)
    wanted = physical_stream(case.expected, case.horizon)
    if case.id == "genmig.run.join_order":
        assert_snapshots_equal(found.to_arrow(), wanted, range(case.horizon + 1))
    else:
        with pytest.raises(AssertionError, match="snapshots differ"):
            assert_snapshots_equal(found.to_arrow(), wanted, range(case.horizon + 1))


@pytest.mark.parametrize("case", EXAMPLES, ids=lambda case: case.id)
def test_where_parallel_track_doubles(case: Case) -> None:
    """Example 28.1: marks of old and new rows are not enough for duplicates."""
    since, window = case.params["migration_start"], 101
    streams = raw(case, 1)
    old = lowered(case.params["old_plan"], streams, window)
    new = lowered(case.params["new_plan"], streams, window, LATER)
    times = random_ticks(None, streams, since)
    latest = max(t for t in times if t <= since)
    found = run(FuseExec(old, new, latest + window), streams, times, since)
    assert_snapshots_equal(
        found.to_arrow(), physical_stream(case.expected, case.horizon), range(case.horizon + 1)
    )
    error = case.facts["parallel_track_error"]
    both = [*error["old_results"], *error["new_results"]]
    doubled = [
        t for t in range(case.horizon) if Counter(v for v, s, e in both if s <= t < e)["a"] == 2
    ]
    named = error["doubled_instants"]
    assert doubled == [*range(named["first"], named["last"] + 1)]
