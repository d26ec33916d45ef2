"""What is to be reached, and whether it was: set for ten million bids on two cores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.auction import flink, floor, inprocess, structured, tidemill_spark
from benchmarks.auction.measure import Outcome

GOAL_BIDS = 10_000_000
EVENTS_PER_SECOND = 1_000_000
SPEEDS = {"counts": 2_200_000, "sellers": 3_000_000, "q4": 1_500_000}
TIMES_SPARK = {"q1": 1.0, "q2": 1.0, "q3": 8.0, "sellers": 20.0, "counts": 40.0}
TIMES_FLINK = 4.0
TIMES_FLINK_OF = {"q1": 3.0, "q2": 3.0, "q3": 3.0}
TIMES_IN_PROCESS = {"counts": 1.4, "sellers": 1.4}
"""Two cores with Spark against one thread without."""

GROWTH = {"window × 10": 1 / 1.2, "events × 10": 1 / 1.2, "both × 10": 1 / 1.2}
"""What may be lost: a row costs at most 1.2 times as much."""

GROWTH |= {"two executors": 0.8}
MEMORY = 6.0
_GIB = 2**30
AT_LEAST, AT_MOST = "at least", "at most"


@dataclass(frozen=True)
class Figure:
    """A number and its goal, which is reached at or above it, or below it if `less`.

    If a system gave up, the number is a bound: the true one is `at least` or `at most` so much.
    """

    query: str
    metric: str
    unit: str
    value: float
    goal: float | None = None
    less: bool = False
    bound: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the goal is reached for certain; None if there is no goal.

        >>> Figure("q3", "times spark", "×", 9.0, goal=8.0, bound=AT_LEAST).met
        True
        >>> Figure("q3", "speed", "events/s", 9.0, goal=8.0, bound=AT_MOST).met
        False
        """
        if self.goal is None:
            return None
        if self.less:
            return self.value < self.goal and self.bound != AT_LEAST
        return self.value >= self.goal and self.bound != AT_MOST


def figures(outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    """All figures that have goals, and their like. A query that failed has speed 0."""
    ours = {o.query: o for o in outcomes if o.system == tidemill_spark.NAME}
    for outcome in outcomes:
        if outcome.system == tidemill_spark.NAME:
            yield _speed(outcome)
        # The floor has no memory of its own: it runs in the process of Tidemill.
        if outcome.spent is not None and outcome.system != floor.NAME:
            yield _memory(outcome)
        if outcome.query in ours and outcome.system != tidemill_spark.NAME:
            yield from _times(ours[outcome.query], outcome)


def ratio(ours: Outcome, theirs: Outcome) -> tuple[float, str] | None:
    """How many times the speed of theirs ours is, and on which side of the truth that is."""
    fast, slow = ours.events_per_second, theirs.events_per_second
    if fast is None or slow is None or (ours.gave_up and theirs.gave_up):
        return None
    bound = AT_MOST if ours.gave_up else AT_LEAST if theirs.gave_up else ""
    return fast / slow, bound


def _speed(outcome: Outcome) -> Figure:
    goal = SPEEDS.get(outcome.query, EVENTS_PER_SECOND)
    bound = AT_MOST if outcome.gave_up else ""
    return Figure(
        outcome.query, "speed", "events/s", outcome.events_per_second or 0.0, goal, bound=bound
    )


def _memory(outcome: Outcome) -> Figure:
    """The goal is for Tidemill; what others need is there to compare."""
    assert outcome.spent is not None
    own = outcome.system == tidemill_spark.NAME
    return Figure(
        outcome.query,
        "memory" if own else f"memory of {outcome.system}",
        "GiB",
        outcome.spent.memory / _GIB,
        MEMORY if own else None,
        less=True,
        bound=AT_LEAST if outcome.gave_up else "",
    )


def _times(ours: Outcome, theirs: Outcome) -> Iterator[Figure]:
    found = ratio(ours, theirs)
    if found is not None:
        goal = None
        if theirs.system == structured.NAME:
            goal = TIMES_SPARK.get(theirs.query)
        elif theirs.system.split()[0] == flink.NAME:
            goal = TIMES_FLINK_OF.get(theirs.query, TIMES_FLINK)
        elif theirs.system == inprocess.NAME:
            goal = TIMES_IN_PROCESS.get(theirs.query)
        value, bound = found
        yield Figure(theirs.query, f"times {theirs.system}", "×", value, goal, bound=bound)
