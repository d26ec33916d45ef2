"""Changes of results, tick by tick, against the reference."""

from __future__ import annotations

from collections import Counter
from random import Random

import polars as pl
import pyarrow as pa
import pytest

from tests.checking.plans import Inputs, reference_of
from tests.physical.reading import TickReader
from tests.random.splits import variants
from tests.runtime.cases import make_case
from tidemill.algebra import Plan, Scan, Schema
from tidemill.physical.lowering import lower
from tidemill.physical.operator import empty_batch
from tidemill.physical.operators.net_changes import SIGN, ChangesExec, changes_of
from tidemill.physical.operators.source import SourceExec
from tidemill.reference import LogicalStream, Row, canonical_row
from tidemill.runtime.operators import Graph
from tidemill.testing.reference import Functions
from tidemill.timeline import BEGIN, OPEN_END, VALID_FROM, VALID_TO

RecognisedObjects = tuple[int, str, int]
"""The value of a row, whether it comes or goes, and when."""


def in_order(told: pl.DataFrame) -> pl.DataFrame:
    """By time; what goes before what comes."""
    return told.sort(VALID_FROM, SIGN, descending=[False, True], maintain_order=True)


class TestOperator:
    @pytest.fixture(autouse=True)
    def _operator(self) -> None:
        self.begin()

    def begin(self, since: int = BEGIN) -> None:
        source = SourceExec(Scan("s", "", Schema.of(v=pa.int64())))
        self.operator = ChangesExec(source, since).operator()
        self.columns = list(source.schema.names)

    def step(self, until: int, *new: tuple[int, int, int]) -> list[RecognisedObjects]:
        names = [*self.columns, VALID_FROM, VALID_TO]
        batch = pl.DataFrame(list(new), dict.fromkeys(names, pl.Int64), orient="row")
        told, watermark = self.operator.step([batch], [until])
        assert watermark == until
        assert (told[VALID_TO] == told[VALID_FROM] + 1).all()
        return list(in_order(told).select(*self.columns, SIGN, VALID_FROM).iter_rows())

    def test_what_changes_is_told_once_time_has_passed_it(self) -> None:
        assert self.step(3, (7, 3, 5)) == []
        assert self.step(4) == [(7, "+", 3)]
        assert self.step(5) == []
        assert self.step(6) == [(7, "-", 5)]

    def test_what_goes_on_is_not_told(self) -> None:
        assert self.step(5, (7, 3, 5), (8, 3, 5)) == [(7, "+", 3), (8, "+", 3)]
        assert self.step(9, (7, 5, 9)) == [(8, "-", 5)]
        assert self.step(20, (7, 9, 15), (7, 15, 16)) == [(7, "-", 16)]

    def test_copies_are_told_one_by_one(self) -> None:
        assert self.step(4, (7, 3, 5), (7, 3, 6)) == [(7, "+", 3)] * 2
        assert self.step(6, *[(7, 5, 6)] * 3) == [(7, "+", 5)] * 2
        assert self.step(7, (7, 6, 9)) == [(7, "-", 6)] * 3

    def test_rows_that_come_are_not_those_that_go(self) -> None:
        told = self.step(9, (1, 5, 7), (2, 4, 5), (3, 7, 8))
        assert told == [
            *[(2, "+", 4), (2, "-", 5), (1, "+", 5)],
            *[(1, "-", 7), (3, "+", 7), (3, "-", 8)],
        ]
        far = 10**15
        told = self.step(2 * far, (1, far, far + 2), (1, far + 2, far + 3), (4, 20, 30))
        assert told == [(4, "+", 20), (4, "-", 30), (1, "+", far), (1, "-", far + 3)]

    def test_an_open_end_never_comes(self) -> None:
        assert self.step(OPEN_END, (7, 3, OPEN_END), (8, 3, OPEN_END - 1)) == [
            *[(7, "+", 3), (8, "+", 3)],
            (8, "-", OPEN_END - 1),
        ]

    def test_what_never_goes_is_forgotten(self) -> None:
        self.step(4, (7, 3, OPEN_END), (8, 3, 9))
        assert self.operator.state_rows == 1
        assert self.step(12, (7, 9, OPEN_END)) == [(8, "-", 9), (7, "+", 9)]
        assert self.operator.state_rows == 0

    def test_many_rows_take_no_memory_once_they_are_gone(self) -> None:
        sizes = []
        for start in range(0, 100_000, 10_000):
            new = [(n, n, n + 3) for n in range(start, start + 10_000)]
            self.step(start + 10_000, *new)
            sizes.append(self.operator.state_bytes)
        assert self.operator.state_rows == 3
        assert max(sizes) < 4 * sizes[0]

    def test_it_rests_while_nothing_changes(self) -> None:
        self.step(4, (7, 3, 9), (8, 6, 7))
        assert self.operator.rest([6]) == 6
        assert self.operator.rest([7]) is None
        self.step(8)
        assert self.operator.rest([9]) == 9
        assert self.operator.rest([10]) is None

    def test_what_holds_at_the_beginning_comes_then(self) -> None:
        self.begin(since=5)
        assert self.step(5, (7, 3, 9), (8, 3, 5), (9, 4, 6)) == []
        assert self.step(10, (9, 6, 7)) == [(7, "+", 5), (9, "+", 5), (9, "-", 7), (7, "-", 9)]

    def test_rows_without_columns(self) -> None:
        operator = ChangesExec(SourceExec(Scan("s", "s", Schema.of()))).operator()
        batch = pl.DataFrame({VALID_FROM: [3, 3, 4], VALID_TO: [4, 5, 6]})
        told, _ = operator.step([batch], [6])
        assert in_order(told).select(SIGN, VALID_FROM).rows() == [("+", 3), ("+", 3), ("-", 5)]

    def test_equal_floats_are_equal(self) -> None:
        node = ChangesExec(SourceExec(Scan("s", "", Schema.of(v=pa.float64()))))
        columns = list(node.child.schema.names)
        values = [(-0.0, 1, 3), (float("nan"), 1, 3), (0.0, 3, 5), (-float("nan"), 3, 5)]
        batch = pl.DataFrame(values, [*columns, VALID_FROM, VALID_TO], orient="row")
        told, _ = node.operator().step([batch], [9])
        assert in_order(told).select(SIGN, VALID_FROM).rows() == [("+", 1)] * 2 + [("-", 5)] * 2
        assert set(map(str, told[columns[0]])) == {"0.0", "nan"}
        assert told.schema == empty_batch(node.schema).schema


def net(batch: pl.DataFrame) -> Counter[tuple[Row, int]]:
    """By row and instant, how many copies come; less than none, if they go."""
    found: Counter[tuple[Row, int]] = Counter()
    rows = batch.drop(SIGN, VALID_FROM, VALID_TO).iter_rows()
    for row, sign, at in zip(rows, batch[SIGN], batch[VALID_FROM], strict=True):
        found[canonical_row(row), at] += 1 if sign == "+" else -1
    return found


def check_ticks(
    plan: Plan, inputs: Inputs, functions: Functions, expected: LogicalStream
) -> list[int]:
    """Compare with the reference tick by tick; the watermarks at which something was told."""
    changes = changes_of(lower(plan, dict(functions)))
    (child,) = changes.children
    graph, reader = Graph(child, changes), TickReader(inputs.sources())
    held: Counter[Row] = Counter()
    news, before = [], BEGIN
    used = [leaf.scan for leaf in graph.leaves if isinstance(leaf, SourceExec)]
    while not all(map(reader.is_ended, used)):
        reader.tick()
        arrivals = [(reader.batch(scan), reader.marks[scan.source]) for scan in used]
        (_, watermark), (told, mark) = graph.step(arrivals)
        assert mark == watermark, "nothing is held back"
        assert all(before <= at < watermark for at in told[VALID_FROM])
        changed = net(told)
        assert sum(map(abs, changed.values())) == told.height, "only what is left in the sum"
        for (row, _), copies in changed.items():
            held[row] += copies
        # Beyond the horizon nothing changes any more.
        instant = min(watermark - 1, expected.horizon)
        wanted = Counter() if watermark == BEGIN else expected.at(instant)
        assert {row: n for row, n in held.items() if n} == wanted, f"watermark {watermark}"
        news += [watermark] * bool(told.height)
        before = watermark
    return news


@pytest.mark.parametrize(
    ("kind", "start"),
    [("plans", start) for start in range(0, 120, 20)]
    + [("queries", start) for start in range(0, 40, 20)],
)
def test_changes_add_up_to_the_snapshots_of_the_reference(kind: str, start: int) -> None:
    news = []
    for seed in range(start, start + 20):
        case, plan, functions = make_case(kind, seed)
        expected = reference_of(plan, case.inputs, functions)
        arranged = {"as it is": case.inputs, **variants(Random(seed), case.inputs)}
        for name, inputs in arranged.items():
            try:
                news += check_ticks(plan, inputs, functions, expected)
            except Exception as error:
                text = f"{kind}, seed {seed}, {name}\n\n{case.text}\n\n{inputs}\n\n{error}"
                raise AssertionError(text) from error
    assert sum(mark < OPEN_END for mark in news) > 3, "there is something to see"
