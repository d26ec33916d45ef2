"""Run plans over arrivals: how long they take, what they remember, when they answer."""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

from experiments.signs import intervals, signed
from experiments.signs.flow import FOR_EVER, Element, Row
from experiments.signs.plans import Build, columns

Arrival = tuple[str, int, Row]
"""The stream, the instant and the row."""

KITS: Mapping[str, ModuleType] = {"intervals": intervals, "signs": signed}


@dataclass(frozen=True)
class Point:
    """After so much of the input: its instant, seconds used, results so far, elements held."""

    at: int
    seconds: float
    results: int
    held: int


def run(kit: ModuleType, build: Build, arrivals: Sequence[Arrival], points: int) -> list[Point]:
    """Push the arrivals as fast as possible, and look at the plan that many times meanwhile."""
    plan = build(kit)
    pushes = [
        (push, kit.arrival(row, at))
        for stream, at, row in arrivals
        for push in plan.inputs.get(stream, ())
    ]
    step = -(-len(pushes) // points)
    seconds, found = 0.0, []
    gc.disable()
    for first in range(0, len(pushes), step):
        part = pushes[first : first + step]
        begin = time.process_time()
        for push, element in part:
            push(element)
        seconds += time.process_time() - begin
        found.append(Point(part[-1][1][1], seconds, len(plan.results), len(plan)))
    begin = time.process_time()
    plan.close()
    seconds += time.process_time() - begin
    gc.enable()
    return [*found, Point(found[-1].at, seconds, len(plan.results), len(plan))]


def answers(kit: ModuleType, build: Build, arrivals: Iterable[Arrival]) -> list[Element]:
    """All results of a plan."""
    return [element for _, element in timed_answers(kit, build, arrivals)]


def timed_answers(
    kit: ModuleType, build: Build, arrivals: Iterable[Arrival]
) -> list[tuple[int, Element]]:
    """All results of a plan, each with the instant of the arrival that brought it."""
    plan = build(kit)
    found: list[tuple[int, Element]] = []
    for stream, at, row in arrivals:
        for push in plan.inputs.get(stream, ()):
            push(kit.arrival(row, at))
        found += [(at, element) for element in plan.results]
        plan.results.clear()
    plan.close()
    return found + [(FOR_EVER, element) for element in plan.results]


Changes = Counter[tuple[Row, int]]


def changes(kit: ModuleType, results: Iterable[Element]) -> Changes:
    """What rows come and go at which instants: equal for equal snapshots, however they are cut."""
    found: Changes = Counter()
    for row, first, second in results:
        if kit is signed:
            found[columns(row), first] += second
        else:
            found[columns(row), first] += 1
            found[columns(row), second] -= 1
    return settled(found)


def settled(found: Changes) -> Changes:
    """Without changes that cancel out, and without those after the end of all time."""
    return Counter({key: times for key, times in found.items() if times and key[1] < FOR_EVER})
