"""Both approaches side by side over the same arrivals, each plan measured once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

from experiments.frame import COLOURS
from experiments.signs import signed
from experiments.signs.flow import FOR_EVER
from experiments.signs.measure import KITS, Arrival, Changes, Point, changes, run, timed_answers
from experiments.signs.plans import Build

STYLES = {"intervals": COLOURS[0], "signs": COLOURS[1], "columnar": COLOURS[2]}
POINTS = 100

Line = tuple[str, str, Build, str, str]
"""A label, an approach, a plan, a colour and a style."""


@dataclass
class Comparison:
    """Runs over arrivals, and what they answer."""

    arrivals: Sequence[Arrival]
    repetitions: int
    _runs: dict[tuple[str, Build], list[Point]] = field(default_factory=dict)

    def points(self, approach: str, build: Build) -> list[Point]:
        """The run of middle length, as it went on."""
        key = approach, build
        if key not in self._runs:
            tries = [
                run(KITS[approach], build, self.arrivals, POINTS) for _ in range(self.repetitions)
            ]
            self._runs[key] = sorted(tries, key=lambda points: points[-1].seconds)[len(tries) // 2]
        return self._runs[key]

    def seconds(self, approach: str, build: Build) -> float:
        return self.points(approach, build)[-1].seconds

    def mean_held(self, approach: str, build: Build) -> float:
        """How many elements are held on average, the beginning and the end left out."""
        held = [point.held for point in self.points(approach, build)]
        return mean(held[len(held) // 4 : -1])

    def answer(self, approach: str, build: Build) -> tuple[Changes, float | None]:
        """What comes and goes, and how long after its start a row is given, in seconds.

        What is given only when the input has ended counts as given at its last instant.
        """
        kit = KITS[approach]
        found = timed_answers(kit, build, self.arrivals)
        end = self.arrivals[-1][1]
        lags = [
            max(min(given, end) - element[1], 0)
            for given, element in found
            if kit is not signed or element[2] > 0
        ]
        late = mean(lags) / 1e6 if lags else None
        return changes(kit, [element for _, element in found]), late

    def given_at_the_end(self, approach: str, build: Build) -> float:
        """The share of the results that are given only because the input has ended."""
        found = timed_answers(KITS[approach], build, self.arrivals)
        return sum(given == FOR_EVER for given, _ in found) / len(found)

    def draw_results(self, axes: Any, lines: Sequence[Line]) -> None:
        """Results over seconds."""
        for label, approach, build, colour, style in lines:
            points = self.points(approach, build)
            seconds = [0.0, *(point.seconds for point in points)]
            results = [0, *(point.results for point in points)]
            axes.plot(seconds, results, style, color=colour, label=label, linewidth=1.4)
        axes.set_xlabel("seconds of one core")
        axes.set_ylabel("results so far")

    def draw_held(self, axes: Any, build: Build) -> None:
        """Elements held, over days of the stream."""
        for approach in KITS:
            points = self.points(approach, build)[:-1]
            days = [(point.at - points[0].at) / 86_400e6 for point in points]
            axes.plot(
                days, [point.held for point in points], color=STYLES[approach], label=approach
            )
        axes.set_xlabel("days of the streams")
