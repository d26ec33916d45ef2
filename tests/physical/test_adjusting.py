"""Sizes that change: the worked examples, and operators that learn of a change while they run."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import polars as pl
import pyarrow as pa
import pytest

from tests.checking.plans import check_plan
from tests.checking.queries import engine_with, plan_of, run_script
from tests.golden.loader import Case, cases, physical_source, physical_stream, scan_of
from tests.physical.running import as_elements, in_order, run_plan
from tests.random.cases import random_inputs
from tests.random.changes import with_changes
from tests.random.data import random_row
from tests.random.versions import FROM, TO, known_changes, version_table
from tidemill.algebra import (
    VERSION,
    CountWindow,
    Granularity,
    Plan,
    Scan,
    Schema,
    SourceKind,
    StarJoin,
    TimeWindow,
)
from tidemill.algebra.adjusting import Bounds
from tidemill.physical.adjusting import AdjustableExec
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Operator
from tidemill.reference import evaluate
from tidemill.timeline import OPEN_END

EXAMPLES = [case for case in cases("adaptation") if "inputs" in case.facts]
BID = Scan("bid", "b", Schema.of(item=pa.int64()))


def example_plan(case: Case) -> Plan:
    ((name, stream),) = case.inputs.items()
    leaf, params = scan_of(name, stream, SourceKind.INTERVALS), case.params
    if case.operator == "time_window":
        changes = ((params["change_at"], params["new_size"]),)
        return TimeWindow(leaf, params["size"], changes=changes)
    changes = ((params["change_at"], params["new_granule"]),)
    return Granularity(leaf, params["granule"], changes=changes)


@pytest.mark.parametrize("case", EXAMPLES, ids=lambda case: case.id)
@pytest.mark.parametrize("rows_per_tick", [1000, 1])
def test_operators_give_the_intervals_of_the_examples(case: Case, rows_per_tick: int) -> None:
    ((name, stream),) = case.inputs.items()
    found = run_plan(example_plan(case), {name: physical_source(stream)}, rows_per_tick)
    assert as_elements(found) == in_order(case.expected)


@pytest.mark.parametrize("case", EXAMPLES, ids=lambda case: case.id)
def test_the_reference_agrees_with_the_examples(case: Case) -> None:
    ((name, stream),) = case.inputs.items()
    found = evaluate(example_plan(case), {name: physical_source(stream)}, case.horizon)
    assert found == physical_stream(case.expected, case.horizon)


def test_a_row_of_a_count_window_keeps_the_number_that_was_in_force_when_it_came() -> None:
    window = CountWindow(BID, 3, changes=((2, 1), (4, 2)))
    found = run_plan(window, {"bid": [({"item": t}, t) for t in range(7)]}, 1)
    # Rows 0 and 1 go with the third row after them, 2 and 3 with the next, others with the second.
    assert as_elements(found) == in_order(
        [[0, 0, 3], [1, 1, 4], [2, 2, 3], [3, 3, 4], [4, 4, 6], [5, 5, "inf"], [6, 6, "inf"]]
    )


def test_a_sliding_count_window_lets_rows_go_with_whole_slides() -> None:
    window = CountWindow(BID, 4, 2, changes=((2, 1),))
    found = run_plan(window, {"bid": [({"item": t}, t) for t in range(8)]}, 3)
    # Slides happen at 1, 3, 5 and 7. Of the pairs that come after the change, only the second
    # row is among the last one when its slide happens.
    assert as_elements(found) == in_order(
        [[0, 1, 5], [1, 1, 5], [3, 3, 5], [5, 5, 7], [7, 7, "inf"]]
    )


ADJUSTABLE = [
    TimeWindow(BID, 4, knob="bid.range"),
    TimeWindow(BID, 4, 3, knob="bid.range"),
    CountWindow(BID, 4, knob="bid.rows"),
    CountWindow(BID, 4, 3, knob="bid.rows"),
    CountWindow(BID, 4, 1, ("b.item",), knob="bid.rows"),
    Granularity(TimeWindow(BID, 9), 2, knob="bid.granularity"),
]


@pytest.mark.parametrize("window", ADJUSTABLE, ids=lambda window: window.label)
def test_an_operator_that_learns_of_a_change_goes_on_as_if_it_had_known_it(
    window: TimeWindow | CountWindow | Granularity,
) -> None:
    changes = ((9, 2), (12, 6))
    before, between, after = (lower(replace(window, changes=changes[:n]), {}) for n in (0, 1, 2))
    running, knowing = before.operator(), after.operator()
    found, wanted = [], []
    for t in range(0, 24, 3):
        if t == 6:
            running.take_over(between)
        if t == 12:  # what is settled may be forgotten
            assert isinstance(after, AdjustableExec)
            running.take_over(replace(after, changes=changes[1:]))
        found.append(_tick(running, t, t + 3))
        wanted.append(_tick(knowing, t, t + 3))
    found.append(_tick(running, 24, OPEN_END))
    wanted.append(_tick(knowing, 24, OPEN_END))
    assert as_elements(pl.concat(found)) == as_elements(pl.concat(wanted))


def _tick(operator: Operator, start: int, until: int) -> pl.DataFrame:
    """Rows of three instants, of three values."""
    times = list(range(start, min(until, start + 3)))
    rows = pl.DataFrame(
        {
            "b.item": [t % 3 for t in times],
            "valid_from": times,
            "valid_to": [t + 1 for t in times],
        }
    )
    return operator.step([rows], [until])[0]


def test_nothing_is_concluded_from_a_size_that_may_change() -> None:
    now = lower(TimeWindow(BID, 1), {})
    later = lower(TimeWindow(BID, 1, knob="bid.range"), {})
    assert now.validity.chronon
    assert not later.validity.chronon
    assert lower(TimeWindow(BID, 5), {}).validity.end_order
    assert not lower(TimeWindow(BID, 5, changes=((9, 2),)), {}).validity.end_order
    assert not lower(CountWindow(BID, 5, changes=((9, 2),)), {}).validity.end_order


def test_bounds_are_not_part_of_an_operator_and_a_knob_is() -> None:
    plain, bounded = TimeWindow(BID, 9), TimeWindow(BID, 9, bounds=Bounds(3, 9))
    assert lower(plain, {}) == lower(bounded, {})
    assert lower(plain, {}) != lower(replace(plain, knob="bid.range"), {})


@pytest.mark.parametrize("changes", [((9, 2), (3, 5)), ((3, 2), (3, 5)), ((3, 0),)])
def test_changes_that_make_no_sense_are_refused(changes: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(ValueError, match=r"changes out of order|below 1"):
        TimeWindow(BID, 9, changes=changes)
    with pytest.raises(ValueError, match="without bound"):
        TimeWindow(BID, None, changes=((3, 5),))


STAR = """
    SELECT a.v AS x, b.v AS y, d.s AS z
    FROM alpha AS a WINDOW(RANGE 6), {relation} AS d, beta AS b WINDOW(RANGE 4)
    WHERE a.k = d.k AND d.k = b.k SHED TO 10000 ROWS USING dgl
"""


@pytest.mark.parametrize("relation", ["delta", "changes"])
@pytest.mark.parametrize("seed", range(4))
def test_a_join_with_bounded_memory_over_windows_that_change(relation: str, seed: int) -> None:
    random = Random(seed)
    inputs = random_inputs(random, rows=(10, 20), ahead=False)
    rows = [random_row(random) | {"k": k} for k in (0, 1, 2)]
    versions = [(row, 2 * n, 15 + n) for n, row in enumerate(rows)]
    inputs = replace(inputs, relations={"delta": rows}, changing={"changes": versions})
    engine = engine_with(inputs)
    held = version_table(known_changes(versions)).drop_columns([VERSION])
    engine.relation("changes", held, changing=(FROM, TO))
    plan = plan_of(run_script(STAR.format(relation=relation), engine))
    assert any(isinstance(part, StarJoin) for part in plan.walk())
    result = check_plan(with_changes(plan, random, coarsen=False), inputs)
    assert result.num_rows > 0
