"""Operators that rest when nothing comes: nothing is lost, and time goes on as it would."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import polars as pl

from tests.checking.plans import Inputs
from tests.physical.reading import TickReader
from tests.random.splits import variants
from tests.runtime.cases import make_case
from tidemill.algebra import Plan
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Operator
from tidemill.physical.operators.source import SourceExec
from tidemill.runtime.operators import Graph
from tidemill.timeline import OPEN_END, VALID_FROM, VALID_TO

QUIET = 5


def wake(operator: Operator) -> None:
    """Never let it rest."""
    operator.rest = lambda watermarks: None  # type: ignore[method-assign]


def watch(operator: Operator, rests: list[Operator]) -> None:
    """Take note whenever it rests although it remembers something."""
    rest = operator.rest

    def watched(watermarks: Sequence[int]) -> int | None:
        mark = rest(watermarks)
        rests.extend([operator] if mark is not None and operator.state_rows else [])
        return mark

    operator.rest = watched  # type: ignore[method-assign]


def ticks(graph: Graph, inputs: Inputs) -> Iterator[tuple[pl.DataFrame, int]]:
    """The rows and the watermark of every tick, with quiet ticks between."""
    reader = TickReader(inputs.sources())
    used = [leaf.scan for leaf in graph.leaves if isinstance(leaf, SourceExec)]
    marks = dict.fromkeys(reader.marks, 0)
    while not all(map(reader.is_ended, used)):
        reader.tick()
        rows = [reader.batch(scan) for scan in used]
        for number in range(QUIET):
            for name, mark in reader.marks.items():
                span = mark - marks[name]
                # Time goes on in steps, the last of them as far as the stream says.
                small = span if number + 1 == QUIET or span > 1000 else span // QUIET
                marks[name] += small
            new = [batch if number == 0 else batch.clear() for batch in rows]
            arrivals = [(b, marks[s.source]) for b, s in zip(new, used, strict=True)]
            yield from graph.step(arrivals)


def changes(parts: list[pl.DataFrame]) -> dict[tuple[object, ...], int]:
    """What rows come and go, and when."""
    found: dict[tuple[object, ...], int] = {}
    for row in pl.concat(parts).fill_nan(None).iter_rows(named=True):
        start, end = row.pop(VALID_FROM), row.pop(VALID_TO)
        for at, sign in ((start, 1), (end, -1)):
            key = (*row.values(), at)
            found[key] = found.get(key, 0) + sign
    return {key: times for key, times in found.items() if times}


def compare(plan: Plan, inputs: Inputs) -> int:
    """Hold a graph that rests against one that does not; how often operators rested."""
    resting, restless = Graph(lower(plan, {})), Graph(lower(plan, {}))
    rests: list[Operator] = []
    for (one, _), (other, _) in zip(resting.state, restless.state, strict=True):
        if one is not None:
            watch(one, rests)
            wake(other)
    both = zip(ticks(resting, inputs), ticks(restless, inputs), strict=True)
    pairs = [(*one, *other) for one, other in both]
    assert all(mark <= most for _, mark, _, most in pairs)
    assert pairs[-1][1] == pairs[-1][3] == OPEN_END
    assert changes([rows for rows, *_ in pairs]) == changes([rows for _, _, rows, _ in pairs])
    return len(rests)


def test_resting_changes_nothing() -> None:
    rests = 0
    for seed in range(25):
        case, plan, functions = make_case("plans", seed)
        if functions:
            continue
        arranged = [case.inputs, *variants(Random(seed), case.inputs).values()]
        try:
            rests += compare(plan, Random(seed).choice(arranged))
        except AssertionError as error:
            raise AssertionError(f"seed {seed}\n\n{case.text}\n\n{error}") from error
    assert rests > 100
