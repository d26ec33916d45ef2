"""Two plans that follow each other: cut, fused, or told apart by reference points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

import polars as pl
import pyarrow as pa
import pytest

from tests.golden.loader import cases
from tidemill.algebra import Scan, Schema
from tidemill.physical.mechanisms.cut import cut
from tidemill.physical.operator import Operator, empty_batch
from tidemill.physical.operators.fuse import FuseExec
from tidemill.physical.operators.migrating import MigratingExec
from tidemill.physical.operators.reference_point import ReferencePointExec
from tidemill.physical.operators.source import SourceExec
from tidemill.timeline import OPEN_END

Element = tuple[str | None, int, int]

OLD = SourceExec(Scan("s", "s", Schema.of(v=pa.string())))
NEW = SourceExec(Scan("t", "s", Schema.of(v=pa.string())))
LAST = 40
"""The streams of the random cases are over by then."""


def batch(rows: Iterable[Element]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=empty_batch(OLD.schema).schema, orient="row")


@dataclass
class Arriving:
    """A stream in ticks: rows, and the watermark after each."""

    ticks: list[list[Element]]
    marks: list[int]


def arriving(random: Random, rows: list[Element], ticks: int, lag: int) -> Arriving:
    """The rows in so many ticks; none starts before the watermark of the tick before."""
    marks = sorted(random.randint(0, LAST) for _ in range(ticks - 1))
    marks = [*(max(0, mark - lag) for mark in marks), OPEN_END]
    found: list[list[Element]] = [[] for _ in range(ticks)]
    for row in rows:
        latest = next(at for at, mark in enumerate(marks) if mark > row[1])
        found[random.randint(max(0, latest - 1), latest)].append(row)
    return Arriving(found, marks)


def random_rows(random: Random) -> list[Element]:
    rows = []
    for _ in range(random.randint(0, 25)):
        start = random.randint(0, LAST - 1)
        end = random.choice([OPEN_END, *[random.randint(start + 1, LAST)] * 9])
        rows.append((random.choice(["a", "b", None]), start, end))
    return rows


def in_pieces(random: Random, rows: list[Element]) -> list[Element]:
    """The same snapshots, in other rows."""
    found: list[Element] = []
    for value, start, end in rows:
        while end - start > 1 and random.random() < 0.5:
            at = random.randint(start + 1, min(end, LAST + 1) - 1) if start < LAST else end
            if at == end:
                break
            found.append((value, start, at))
            start = at
        found.append((value, start, end))
    return found


def step(operator: Operator, tick: int, old: Arriving, new: Arriving) -> tuple[list[Element], int]:
    rows, mark = operator.step(
        [batch(old.ticks[tick]), batch(new.ticks[tick])], [old.marks[tick], new.marks[tick]]
    )
    return rows.rows(), mark  # type: ignore[return-value]


def run(node: MigratingExec, old: Arriving, new: Arriving) -> list[Element]:
    """All that comes, after a look at what was promised."""
    operator = node.operator()
    found: list[Element] = []
    promised = 0
    for tick in range(len(old.ticks)):
        rows, mark = step(operator, tick, old, new)
        assert all(promised <= start < end for _, start, end in rows)
        assert mark >= promised
        assert mark >= min(old.marks[tick], new.marks[tick]), "later than the slower plan"
        uncut = Counter(row for row in old.ticks[tick] if row[2] <= node.split)
        assert not uncut - Counter(rows), "what ends before the split passes at once"
        if min(old.marks[tick], new.marks[tick]) >= node.split:
            assert operator.state_rows == 0, "nothing waits behind the split"
            assert mark == new.marks[tick]
        promised = mark
        found += rows
    assert promised == OPEN_END
    return found


def snapshots(rows: Iterable[Element]) -> list[Counter[str | None]]:
    rows = list(rows)
    return [Counter(v for v, start, end in rows if start <= t < end) for t in range(LAST + 2)]


def unfinished(random: Random, rows: list[Element], split: int) -> list[Element]:
    """What a plan says that began to listen late: anything before the split."""
    known = [row for row in rows if row[2] > split or random.random() < 0.5]
    late = [
        (v, random.randint(start, split - 1) if start < split else start, end)
        for v, start, end in known
        if end > split or start < split
    ]
    return [(v, start, end) for v, start, end in late if start < end]


@pytest.mark.parametrize("seed", range(40))
def test_snapshots_are_those_of_both_plans(seed: int) -> None:
    random = Random(seed)
    rows, split, ticks = random_rows(random), random.randint(1, LAST), random.randint(1, 9)
    old = arriving(random, in_pieces(random, rows), ticks, random.randint(0, 5))
    told = unfinished(random, in_pieces(random, rows), split)
    new = arriving(random, told, ticks, random.randint(0, 5))
    assert snapshots(run(FuseExec(OLD, NEW, split), old, new)) == snapshots(rows)


@pytest.mark.parametrize("node", [FuseExec, ReferencePointExec])
@pytest.mark.parametrize("seed", range(20))
def test_equal_plans_leave_no_seam(node: type[MigratingExec], seed: int) -> None:
    """Whatever the ticks: a half has not passed before the other can have come."""
    random = Random(seed)
    rows, split, ticks = random_rows(random), random.randint(1, LAST), random.randint(1, 9)
    old, new = (arriving(random, rows, ticks, random.randint(0, 5)) for _ in range(2))
    found = run(node(OLD, NEW, split), old, new)
    assert snapshots(found) == snapshots(rows)
    # Of rows that start together, either may get the end of the other.
    assert Counter((v, start) for v, start, _ in found) == Counter((v, s) for v, s, _ in rows)


def test_the_reference_point_is_wrong_for_other_rows() -> None:
    """Equal snapshots are not enough for it; cutting and fusing is right."""
    old, new = (
        Arriving([[("a", 1, 9)]], [OPEN_END]),
        Arriving([[("a", 1, 5), ("a", 5, 9)]], [OPEN_END]),
    )
    assert Counter(run(ReferencePointExec(OLD, NEW, 5), old, new)) == {
        ("a", 1, 9): 1,
        ("a", 5, 9): 1,
    }
    assert snapshots(run(FuseExec(OLD, NEW, 5), old, new)) == snapshots([("a", 1, 9)])


def test_halves_are_paired_copy_by_copy() -> None:
    old = Arriving([[("a", 1, 9), ("a", 2, 9), ("b", 1, 9), (None, 1, 9)]], [OPEN_END])
    new = Arriving([[("a", 3, 7), ("b", 1, 6), ("b", 1, 8), (None, 1, 9)]], [OPEN_END])
    found = run(FuseExec(OLD, NEW, 5), old, new)
    ends = sorted(((str(v), end) for v, _, end in found))
    assert ends == [("None", 9), ("a", 5), ("a", 7), ("b", 6), ("b", 8)]
    assert sorted(start for v, start, _ in found if v == "b") == [1, 5]


def test_a_half_waits_until_the_other_plan_has_passed_its_start() -> None:
    operator = FuseExec(OLD, NEW, 10).operator()
    nothing = batch([])
    rows, mark = operator.step([batch([("a", 4, 12), ("b", 3, 7)]), nothing], [6, 4])
    assert (rows.rows(), mark, operator.state_rows) == ([("b", 3, 7)], 4, 1)
    rows, mark = operator.step([nothing, nothing], [6, 5])
    assert (rows.rows(), mark, operator.state_rows) == ([("a", 4, 10)], 6, 0)
    rows, mark = operator.step([nothing, batch([("a", 5, 12)])], [10, 6])
    assert (rows.rows(), mark, operator.state_rows) == ([("a", 10, 12)], 10, 0)


def test_rows_of_one_instant_stay_so() -> None:
    old, new = Arriving([[("a", 4, 5)]], [OPEN_END]), Arriving([[("a", 5, 6)]], [OPEN_END])
    node = FuseExec(OLD, NEW, 5)
    assert node.validity.chronon
    assert Counter(run(node, old, new)) == {("a", 4, 5): 1, ("a", 5, 6): 1}


def test_columns_must_be_the_same() -> None:
    other = SourceExec(Scan("t", "t", Schema.of(v=pa.string())))
    with pytest.raises(ValueError, match="same columns"):
        FuseExec(OLD, other, 5)


def test_the_fork_of_the_text() -> None:
    """Times are doubled, so that the split at a half is an instant."""
    (case,) = (case for case in cases("genmig") if case.operator == "fork")
    rows = batch((v, 2 * start, 2 * end) for v, start, end in case.inputs["I"])
    split = int(2 * case.params["split_time"])
    for side, found in (("old", cut(rows, end=split)), ("new", cut(rows, start=split))):
        assert Counter(found.rows()) == Counter(
            (v, int(2 * start), int(2 * end)) for v, start, end in case.expected[side]
        )


@pytest.mark.parametrize("seed", range(20))
def test_cut_rows_keep_what_lies_between(seed: int) -> None:
    random = Random(seed)
    rows = random_rows(random)
    start = random.randint(0, LAST - 1)
    end = random.choice([OPEN_END, random.randint(start + 1, LAST)])
    found = cut(batch(rows), start, end)
    whole, part = snapshots(rows), snapshots(found.rows())
    empty: Counter[str | None] = Counter()
    assert part == [whole[t] if start <= t < end else empty for t in range(LAST + 2)]
    assert not (found["valid_from"] >= found["valid_to"]).any()
