"""What the rules did to a plan, for people to read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from tidemill.algebra.plan import Plan, lines_of
from tidemill.catalog.hints import Hints
from tidemill.explain import PlanLine
from tidemill.expressions.functions import Functions
from tidemill.optimize.driver import RULES, Trace, optimize
from tidemill.optimize.rule import Notes
from tidemill.optimize.statistics import Statistics
from tidemill.timeline import TimeDomain


@dataclass(frozen=True)
class Optimized:
    """A plan, and the plan after every rule that changed it; `off` rules were not used."""

    before: Plan
    steps: tuple[tuple[str, Plan], ...]
    off: frozenset[str]
    notes: tuple[Callable[[], str], ...] = ()

    @property
    def plan(self) -> Plan:
        """The plan after all rules."""
        return self.steps[-1][1] if self.steps else self.before

    def lines(self) -> Iterator[PlanLine]:
        """The plan after every rule, for explain, and which rules did nothing."""
        yield from lines_of(self.before)
        for name, plan in self.steps:
            yield PlanLine(f"{name}: {_SUMMARIES[name]}")
            yield from lines_of(plan)
        yield from map(PlanLine, self._remarks())

    def _remarks(self) -> Iterator[str]:
        fired = {name for name, _ in self.steps}
        rest = [rule.name for rule in RULES if rule.name not in fired | self.off]
        if rest:
            yield f"unchanged by {', '.join(rest)}"
        if self.off:
            yield f"not used: {', '.join(rule.name for rule in RULES if rule.name in self.off)}"
        yield from (note() for note in self.notes)


_SUMMARIES = {rule.name: rule.summary for rule in RULES}


def optimized(
    plan: Plan,
    statistics: Statistics | None = None,
    off: Collection[str] = (),
    hints: Hints | None = None,
    domain: TimeDomain = TimeDomain.TICKS,
    functions: Functions | None = None,
) -> Optimized:
    """Optimize a plan and keep every step.

    >>> from tidemill.optimize.examples import plan_of
    >>> done = optimized(plan_of("SELECT item FROM bid WHERE 1 = 1"), off=["merge_projects"])
    >>> [name for name, _ in done.steps]
    ['simplify_filters', 'prune_columns']
    """
    trace: Trace = []
    notes: Notes = []
    optimize(plan, statistics, trace, off, hints, domain, notes, functions)
    return Optimized(plan, tuple(trace), frozenset(off), tuple(notes))
