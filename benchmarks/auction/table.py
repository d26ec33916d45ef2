"""The figures of a run as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table

from benchmarks.auction import floor, tidemill_spark
from benchmarks.auction.goals import GOAL_BIDS, Figure, ratio
from benchmarks.auction.growth import BASE
from benchmarks.auction.measure import PHASES, Outcome
from benchmarks.auction.phases import floor_seconds, slowest

_AGREES = {None: "", True: "; answers agree", False: "; ANSWERS DIFFER"}
_SIGNS = {"at least": "≥ ", "at most": "≤ ", "": ""}
_MARKS = {None: "", True: " [green]✓[/green]", False: " [red]✗ missed[/red]"}


def systems_table(outcomes: Sequence[Outcome]) -> Table:
    """Every query in every system, and how it compares with Tidemill on Spark."""
    table = _table("Events per second", "query", "system")
    for name in ("events/s", "seconds", "of a core", "Tidemill is", "memory"):
        table.add_column(name, justify="right")
    table.add_column("question")
    ours = {o.query: o for o in outcomes if o.system == tidemill_spark.NAME}
    for outcome, following in _pairs(outcomes):
        question = "; ".join(filter(None, (outcome.question, outcome.missing)))
        table.add_row(
            outcome.query,
            outcome.system,
            *_numbers(outcome),
            _times(ours.get(outcome.query), outcome),
            _memory(outcome),
            question + _AGREES[outcome.agrees],
            end_section=following is None or following.query != outcome.query,
        )
    return table


def phases_table(outcomes: Sequence[Outcome]) -> Table:
    """Where Tidemill's time goes: seconds of all ticks, and the floor; the slowest is marked.

    `between` is what Spark does between the ticks; `load`, `step` and `save` are parts of `run`;
    `replayed` is a number of ticks.
    """
    title = "Seconds of Tidemill's ticks (load, step, save: in run); ◀ is the slowest query"
    table = _table(title, "query")
    for name in ("total", "between", *PHASES, "floor"):
        table.add_column(name, justify="right")
    floors, last = floor_seconds(outcomes), slowest(outcomes)
    for outcome in outcomes:
        if outcome.system == tidemill_spark.NAME and outcome.spent is not None:
            total, phases = outcome.spent.seconds, outcome.phases
            between = total - phases.get("plan", 0.0) - phases.get("run", 0.0)
            table.add_row(
                f"{outcome.query}{f', {outcome.case}' if outcome.case else ''}"
                f"{' ◀' if outcome is last else ''}",
                f"{total:.2f}",
                f"{between:.2f}",
                *(f"{phases.get(name, 0.0):.2f}" for name in PHASES[:-1]),
                f"{phases.get(PHASES[-1], 0):.0f}",
                f"{floors[outcome.query]:.2f}" if outcome.query in floors else "",
            )
    return table


def growth_table(outcomes: Sequence[Outcome]) -> Table:
    """Tidemill's speed in every case, and what that is of the usual one."""
    table = _table("Growth", "query", "case")
    for name in ("events", "events/s", "seconds", "of a core", "of base", "state rows", "memory"):
        table.add_column(name, justify="right")
    bases = {o.query: o for o in outcomes if o.case == BASE}
    for outcome, following in _pairs(outcomes):
        table.add_row(
            outcome.query,
            outcome.case,
            f"{outcome.events:,}",
            *_numbers(outcome),
            _times(outcome, bases[outcome.query]),
            f"{outcome.state_rows:,}",
            _memory(outcome) or outcome.missing,
            end_section=following is None or following.query != outcome.query,
        )
    return table


def goals_table(figures: Sequence[Figure], bids: int) -> Table:
    """All figures that have a goal, and whether it was met."""
    title = f"Goals, set for {GOAL_BIDS:,} bids on two cores; here are {bids:,} bids"
    table = _table(title, "query", "figure")
    table.add_column("value", justify="right")
    table.add_column("goal", justify="right")
    for figure in figures:
        if figure.goal is not None:
            value = f"{figure.value:,.2f}" if figure.value < 1000 else f"{figure.value:,.0f}"
            table.add_row(
                figure.query,
                figure.metric,
                f"{_SIGNS[figure.bound]}{value}{_MARKS[figure.met]}",
                f"{'<' if figure.less else '≥'} {figure.goal:,.10g} {figure.unit}",
            )
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column)
    return table


def _numbers(outcome: Outcome) -> tuple[str, str, str]:
    """Events per second, seconds, and seconds of a core."""
    if outcome.spent is None:
        return "–", "–", "–"
    over, below = ("over ", "< ") if outcome.gave_up else ("", "")
    return (
        f"{below}{outcome.events_per_second:,.0f}",
        f"{over}{outcome.spent.seconds:,.2f}{' (gave up)' if over else ''}",
        f"{outcome.spent.cpu:,.1f}",
    )


def _times(ours: Outcome | None, theirs: Outcome) -> str:
    times = None if ours is None or ours is theirs else ratio(ours, theirs)
    return "" if times is None else f"{_SIGNS[times[1]]}× {times[0]:,.2f}"


def _memory(outcome: Outcome) -> str:
    """Of the floor nothing is known: it runs in the process of Tidemill."""
    if outcome.spent is None or outcome.system == floor.NAME:
        return ""
    return f"{outcome.spent.memory / 2**30:.1f} GiB"


def _pairs(outcomes: Sequence[Outcome]) -> Iterable[tuple[Outcome, Outcome | None]]:
    """Every outcome with the next one."""
    return zip(outcomes, (*outcomes[1:], None), strict=True)
