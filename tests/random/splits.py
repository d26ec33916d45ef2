"""The same rows in other ticks and orders: the answer must not depend on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from tests.checking.plans import Inputs, reference_of, run_plan
from tests.random.data import TIME, RandomStream
from tidemill.algebra import Plan
from tidemill.optimize import optimize
from tidemill.reference import LogicalStream
from tidemill.testing.reference import NO_FUNCTIONS, Functions, check_result
from tidemill.testing.snapshots import Elements, elements, snapshot_at

Arrange = Callable[[RandomStream], RandomStream]


def variants(random: Random, inputs: Inputs) -> dict[str, Inputs]:
    """The accepted rows of the inputs, arriving in other ways; none of them is late."""
    return {
        "all in one tick": _arranged(inputs, lambda s: _at_once(random, s)),
        "one row per tick": _arranged(inputs, lambda s: _one_by_one(random, s)),
        "other ticks": _arranged(inputs, lambda s: _in_ticks(random, s)),
        "other ticks and slack": _arranged(
            inputs, lambda s: _in_ticks(random, _patient(random, s))
        ),
    }


def _arranged(inputs: Inputs, arrange: Arrange) -> Inputs:
    streams = {
        name: arrange(RandomStream((tuple(stream.in_time()),), stream.slack))
        for name, stream in inputs.streams.items()
    }
    return replace(inputs, streams=streams)


def _patient(random: Random, stream: RandomStream) -> RandomStream:
    return RandomStream(stream.ticks, stream.slack + random.randint(1, 30))


def _at_once(random: Random, stream: RandomStream) -> RandomStream:
    rows = stream.in_time()
    return RandomStream((tuple(random.sample(rows, len(rows))),), stream.slack)


def _one_by_one(random: Random, stream: RandomStream) -> RandomStream:
    return RandomStream(tuple((row,) for row in _delayed(random, stream)), stream.slack)


def _in_ticks(random: Random, stream: RandomStream) -> RandomStream:
    """Ticks of a few rows, some of none; the ticks of two streams need not fit each other."""
    rows, ticks = _delayed(random, stream), []
    while rows:
        size = random.choice([0, 0, 1, 1, 2, 3, 5])
        ticks.append(tuple(rows[:size]))
        rows = rows[size:]
    return RandomStream((*ticks, *[()] * random.randint(0, 2)), stream.slack)


def _delayed(random: Random, stream: RandomStream) -> list[dict[str, Any]]:
    """The rows, each delayed by no more than the slack: so none comes too late."""
    delays = [(row[TIME] + random.uniform(0, stream.slack), row) for row in stream.in_time()]
    random.shuffle(delays)
    return [row for _, row in sorted(delays, key=lambda each: each[0])]


def check_splits(
    plan: Plan,
    inputs: Inputs,
    random: Random,
    functions: Functions = NO_FUNCTIONS,
    rewrite: Callable[[Plan], Plan] = optimize,
) -> None:
    """Fail unless all arrangements of the inputs give the snapshots of the reference."""
    expected = reference_of(plan, inputs, functions)
    first: LogicalStream | None = None
    for name, arranged in variants(random, inputs).items():
        assert not any(s.late_rows for s in arranged.streams.values()), f"late rows with {name}"
        try:
            result = run_plan(plan, arranged, functions, rewrite)
            found = as_stream(result, expected.horizon)
            first = found if first is None else first
            assert dict(found) == dict(first), f"not the snapshots of all in one tick: {found}"
            check_result(result, expected)
        except Exception as error:
            raise AssertionError(f"with {name}:\n{arranged}\n{error}") from error


def as_stream(result: Elements, horizon: int) -> LogicalStream:
    """A result as snapshots.

    >>> as_stream([(("a",), 2, 4)], 9)
    LogicalStream({2: Counter({('a',): 1}), 3: Counter({('a',): 1})}, horizon=9)
    """
    found = elements(result)
    return LogicalStream.build(horizon, lambda t: snapshot_at(found, t))
