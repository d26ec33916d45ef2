"""Where the time goes in Tidemill's ticks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.auction import floor, tidemill_spark
from benchmarks.auction.measure import Outcome


def slowest(outcomes: Sequence[Outcome]) -> Outcome | None:
    """Tidemill's query with the fewest events a second."""
    ours = [o for o in outcomes if o.system == tidemill_spark.NAME and o.spent is not None]
    return min(ours, key=lambda o: o.events_per_second or 0.0, default=None)


def floor_seconds(outcomes: Sequence[Outcome]) -> Mapping[str, float]:
    """What the floor took, by query."""
    return {o.query: o.spent.seconds for o in outcomes if o.system == floor.NAME and o.spent}


def slowest_phases(outcomes: Sequence[Outcome]) -> dict[str, object] | None:
    """The slowest query: its seconds by phase, and its floor."""
    outcome = slowest(outcomes)
    if outcome is None or outcome.spent is None:
        return None
    return {
        "query": outcome.query,
        "case": outcome.case,
        "seconds": outcome.spent.seconds,
        "phases": outcome.phases,
        "floor": floor_seconds(outcomes).get(outcome.query),
    }
