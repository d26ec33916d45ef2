"""Estimated rows of our plans against rows counted on random streams."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import inf

import numpy as np
import pytest

from tidemill.optimize.cost.characteristics import Characteristics
from tidemill.optimize.cost.constants import MEASURED
from tidemill.optimize.early.plan_costs import JoinInput, choose_plan, plan_rows
from tidemill.optimize.early.plans import all_masks

INSTANTS = 600
SETTLED = INSTANTS * 2 / 3


@dataclass(frozen=True)
class Source:
    """A stream with rows at random instants, and a window of a fixed length."""

    rate: float
    length: int
    keys: int
    groups: int

    @property
    def side(self) -> JoinInput:
        return JoinInput(Characteristics(1 / self.rate, self.length), self.keys, self.groups)

    def rows(self, seed: int) -> dict[tuple[int, int], list[int]]:
        """Starts of rows by key and group."""
        draw = np.random.default_rng(seed)
        starts = draw.integers(0, INSTANTS, int(self.rate * INSTANTS))
        found = defaultdict(list)
        for start in sorted(starts.tolist()):
            found[int(draw.integers(self.keys)), int(draw.integers(self.groups))].append(start)
        return found

    def intervals(self, seed: int, early: bool) -> dict[int, list[tuple[int, int]]]:
        """What goes into the join by key: rows, or versions of groups."""
        found: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for (key, _), starts in self.rows(seed).items():
            pieces = [(start, start + self.length) for start in starts]
            found[key] += cut(pieces) if early else pieces
        return found


def cut(pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Versions of one group: from change to change, where it is not empty."""
    moments = sorted({moment for piece in pieces for moment in piece})
    spans = pairwise(moments)
    return [span for span in spans if any(a <= span[0] < b for a, b in pieces)]


def matches(inputs: Iterable[Mapping[int, list[tuple[int, int]]]]) -> int:
    """Combinations with one key that begin in the settled part of the run."""
    total = 0
    first, *others = inputs
    for key, spans in first.items():
        joined = spans
        for other in others:
            joined = [
                (max(a, c), min(b, d))
                for (a, b), (c, d) in product(joined, other.get(key, []))
                if a < d and c < b
            ]
        total += sum(settled(start) for start, _ in joined)
    return total


def settled(start: int) -> bool:
    return INSTANTS // 3 <= start < INSTANTS


SOURCES = [
    Source(rate=0.5, length=4, keys=50, groups=4),
    Source(rate=0.5, length=40, keys=5, groups=2),
    Source(rate=2.0, length=30, keys=3, groups=1),
    Source(rate=1.0, length=20, keys=4, groups=5),
    Source(rate=20.0, length=15, keys=2, groups=3),
]


@pytest.mark.parametrize("source", SOURCES, ids=repr)
def test_versions(source: Source) -> None:
    spans = [span for spans in source.intervals(7, early=True).values() for span in spans]
    written = sum(settled(start) for start, _ in spans) / SETTLED
    holding = np.mean([sum(a <= t < b for a, b in spans) for t in range(200, 600, 10)])
    found = source.side.early
    assert (found.rate, found.live_rows) == pytest.approx((written, holding), rel=0.12)


@pytest.mark.parametrize(
    "sources",
    [
        [Source(0.5, 40, 5, 2), Source(1.0, 20, 5, 1)],
        [Source(4.0, 20, 10, 1), Source(2.0, 10, 10, 30)],
        [Source(0.3, 30, 4, 1), Source(0.3, 20, 4, 2), Source(0.4, 20, 4, 1)],
    ],
    ids=len,
)
def test_join_rows_of_all_plans(sources: list[Source]) -> None:
    masks = all_masks([True] * len(sources))
    estimated = plan_rows([source.side for source in sources], masks)
    counted = [
        matches(
            source.intervals(i, early)
            for i, (source, early) in enumerate(zip(sources, mask, strict=True))
        )
        for mask in masks.tolist()
    ]
    assert estimated.late == pytest.approx(np.array(counted) / SETTLED, rel=0.2)


STREAM = Characteristics(distance=1, length=100)


def test_coarse_time_makes_versions_coincide() -> None:
    coarse = Characteristics(distance=1, length=1000, granularity=1000)
    found = JoinInput(coarse, keys=10).early
    assert (found.rate, found.live_rows) == pytest.approx((0.01, 10))


def test_a_relation_is_aggregated_once() -> None:
    sides = [JoinInput(STREAM, 10), JoinInput(Characteristics.of_relation(1000), 10)]
    late, early = plan_rows(sides, np.array([[False, False], [False, True]])).late
    assert (late, early) == pytest.approx((100, 1))
    assert choose_plan(sides, tick=1000).mask == (False, True)


SLOW_VERSIONS = {**MEASURED, "aggregate": replace(MEASURED["aggregate"], emit=10_000)}


def test_memory_counts() -> None:
    sides = [JoinInput(STREAM, 10), JoinInput(STREAM, 10, groups=1e9)]
    assert choose_plan(sides, SLOW_VERSIONS).mask == (False, False)
    assert choose_plan(sides, SLOW_VERSIONS, byte=10).mask == (True, False)


def test_ticks_cut_versions() -> None:
    """At every tick all matches of versions begin anew, together."""
    sides = [JoinInput(STREAM, 10), JoinInput(STREAM, 10)]
    masks = all_masks([True, True])
    whole, cut = plan_rows(sides, masks), plan_rows(sides, masks, tick=20)
    live = np.array([1000, 100, 100, 10])
    assert cut.late - whole.late == pytest.approx(live / 20 * masks.any(axis=1), rel=0.01)
    # So many groups are open that two ticks have to pay for a cut.
    many = JoinInput(Characteristics(distance=0.01, length=60), keys=1e9)
    assert many.cuts(20) == 1 / 20
    assert many.cuts(10) == 1 / 20


def test_short_ticks_do_not_pay() -> None:
    sides = [JoinInput(STREAM, 10), JoinInput(STREAM, 10)]
    masks = {tick: choose_plan(sides, tick=tick).mask for tick in (inf, 1e4, 1.0)}
    assert masks == {inf: (True, True), 1e4: (True, True), 1.0: (False, False)}


def test_an_input_without_rows() -> None:
    nothing = Characteristics.of_rate(0, 0, 1)
    choice = choose_plan([JoinInput(STREAM, 10), JoinInput(nothing, 10)])
    assert choice.mask == (False, False)
