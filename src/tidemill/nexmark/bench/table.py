"""The figures of a run as tables."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from tidemill.nexmark.bench import floor, tidemill_spark
from tidemill.nexmark.bench.measure import Outcome

_PHASES = ("plan", "run", "load", "step", "save")
_AGREES = {None: "", True: "; answers agree", False: "; ANSWERS DIFFER"}


def systems_table(outcomes: Sequence[Outcome]) -> Table:
    """Every query in every system, and how it compares with Tidemill on Spark."""
    table = Table(title="Events per second", title_justify="left")
    table.add_column("query")
    table.add_column("system")
    for name in ("events/s", "seconds", "of a core", "Tidemill is", "memory"):
        table.add_column(name, justify="right")
    table.add_column("question")
    for outcome in outcomes:
        table.add_row(
            outcome.query,
            outcome.system,
            f"{outcome.events_per_second:,.0f}",
            f"{outcome.spent.seconds:.2f}",
            f"{outcome.spent.cpu:.1f}" if outcome.spent.cpu else "",
            _ratio(outcome, outcomes),
            f"{outcome.spent.memory / 2**30:.1f} GiB",
            outcome.question + _AGREES[outcome.agrees],
            end_section=outcome is outcomes[-1] or _next(outcome, outcomes) != outcome.query,
        )
    return table


def phases_table(outcomes: Sequence[Outcome]) -> Table:
    """Where Tidemill's time goes: seconds of all ticks, and the floor below them."""
    table = Table(title="Seconds of Tidemill's ticks", title_justify="left")
    table.add_column("query")
    for name in ("total", *_PHASES, "floor"):
        table.add_column(name, justify="right")
    floors = {o.query: o.spent.seconds for o in outcomes if o.system == floor.NAME}
    for outcome in outcomes:
        if outcome.system == tidemill_spark.NAME:
            spent = [f"{outcome.phases.get(phase, 0.0):.2f}" for phase in _PHASES]
            lowest = f"{floors[outcome.query]:.2f}" if outcome.query in floors else ""
            table.add_row(outcome.query, f"{outcome.spent.seconds:.2f}", *spent, lowest)
    return table


def ratio(outcome: Outcome, outcomes: Sequence[Outcome]) -> float | None:
    """How many times the speed of a system Tidemill on Spark has."""
    for ours in outcomes:
        if ours.system == tidemill_spark.NAME and ours.query == outcome.query:
            return ours.events_per_second / outcome.events_per_second
    return None


def _ratio(outcome: Outcome, outcomes: Sequence[Outcome]) -> str:
    times = ratio(outcome, outcomes)
    return "" if times is None or outcome.system == tidemill_spark.NAME else f"× {times:.2f}"


def _next(outcome: Outcome, outcomes: Sequence[Outcome]) -> str:
    return outcomes[list(outcomes).index(outcome) + 1].query
