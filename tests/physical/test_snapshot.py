"""Snapshots of results, tick by tick, against the reference."""

from __future__ import annotations

from collections import Counter
from random import Random

import polars as pl
import pytest

from tests.checking.plans import Inputs, reference_of
from tests.physical.reading import TickReader
from tests.random.splits import variants
from tests.runtime.cases import make_case
from tidemill.algebra import Plan, Scan, Schema
from tidemill.physical.lowering import lower
from tidemill.physical.operators.snapshot import SnapshotExec, snapshots_of
from tidemill.physical.operators.source import SourceExec
from tidemill.reference import LogicalStream, Snapshot, canonical_row
from tidemill.runtime.operators import Graph
from tidemill.testing.reference import Functions
from tidemill.timeline import BEGIN, OPEN_END, VALID_FROM, VALID_TO


def rows(*validities: tuple[int, int]) -> pl.DataFrame:
    schema = {VALID_FROM: pl.Int64, VALID_TO: pl.Int64}
    return pl.DataFrame(list(validities), schema=schema, orient="row")


class TestOperator:
    @pytest.fixture(autouse=True)
    def _operator(self) -> None:
        self.operator = SnapshotExec(SourceExec(Scan("s", "s", Schema.of()))).operator()

    def step(self, until: int, *new: tuple[int, int]) -> int:
        batch, watermark = self.operator.step([rows(*new)], [until])
        assert watermark == max(0, until - 1)
        assert set(batch.rows()) <= {(until - 1, until)}
        return batch.height

    def test_rows_hold_from_their_start_to_before_their_end(self) -> None:
        assert self.step(0, (3, 6), (5, 9)) == 0
        assert [self.step(until) for until in (3, 4, 5, 6, 7, 9, 10)] == [0, 1, 1, 2, 1, 1, 0]

    def test_while_time_stands_still_the_snapshot_comes_again(self) -> None:
        assert self.step(4, (1, 4), (1, 3)) == 1
        assert self.step(4, (4, 5)) == 1

    def test_what_is_over_is_forgotten(self) -> None:
        self.step(4, (1, 4), (1, 3), (7, 8))
        assert self.operator.state_rows == 2
        assert self.operator.state_bytes > 0
        self.step(9)
        assert self.operator.state_rows == 0

    def test_the_end_of_time_shows_what_holds_for_ever(self) -> None:
        assert self.step(OPEN_END, (1, OPEN_END), (1, OPEN_END - 1)) == 1


def counted(batch: pl.DataFrame) -> Snapshot:
    return Counter(canonical_row(row) for *row, _, _ in batch.iter_rows())


def check_ticks(
    plan: Plan, inputs: Inputs, functions: Functions, expected: LogicalStream
) -> list[int]:
    """Compare with the reference tick by tick; the watermarks at which something held."""
    snapshots = snapshots_of(lower(plan, dict(functions)))
    (child,) = snapshots.children
    graph, reader = Graph(child, snapshots), TickReader(inputs.sources())
    full = []
    used = [leaf.scan for leaf in graph.leaves if isinstance(leaf, SourceExec)]
    while not all(map(reader.is_ended, used)):
        reader.tick()
        arrivals = [(reader.batch(scan), reader.marks[scan.source]) for scan in used]
        (_, watermark), (found, _) = graph.step(arrivals)
        # Beyond the horizon nothing changes any more.
        instant = min(watermark - 1, expected.horizon)
        wanted = Counter() if watermark == BEGIN else expected.at(instant)
        assert counted(found) == wanted, f"watermark {watermark}"
        assert set(found[VALID_FROM]) <= {watermark - 1}
        full += [watermark] * bool(found.height)
    return full


@pytest.mark.parametrize(
    ("kind", "start"),
    [("plans", start) for start in range(0, 120, 20)]
    + [("queries", start) for start in range(0, 40, 20)],
)
def test_snapshots_are_those_of_the_reference(kind: str, start: int) -> None:
    full = []
    for seed in range(start, start + 20):
        case, plan, functions = make_case(kind, seed)
        expected = reference_of(plan, case.inputs, functions)
        arranged = {"as it is": case.inputs, **variants(Random(seed), case.inputs)}
        for name, inputs in arranged.items():
            try:
                full += check_ticks(plan, inputs, functions, expected)
            except Exception as error:
                text = f"{kind}, seed {seed}, {name}\n\n{case.text}\n\n{inputs}\n\n{error}"
                raise AssertionError(text) from error
    assert sum(mark < OPEN_END for mark in full) > 3, "there is something to see"
