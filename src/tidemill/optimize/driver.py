"""Which rules are applied to a plan, and in which order."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from tidemill.algebra.plan import Plan
from tidemill.catalog.hints import Hints
from tidemill.deadline import look
from tidemill.expressions.functions import Functions
from tidemill.optimize.rule import (
    Notes,
    Rule,
    RuleContext,
    check_columns,
    conventional,
    costed,
    temporal,
    whole,
)
from tidemill.optimize.rules.aggregate_early import aggregate_early
from tidemill.optimize.rules.cancel_difference import cancel_difference
from tidemill.optimize.rules.compare_with_extremes import compare_with_extremes
from tidemill.optimize.rules.derive_filters import derive_filters
from tidemill.optimize.rules.join_on_filters import join_on_filters
from tidemill.optimize.rules.merge_filters import merge_filters
from tidemill.optimize.rules.merge_projects import merge_projects
from tidemill.optimize.rules.order_joins import order_joins
from tidemill.optimize.rules.prune_columns import prune_columns
from tidemill.optimize.rules.push_distinct import push_distinct
from tidemill.optimize.rules.push_filters import push_filters
from tidemill.optimize.rules.push_projects import push_projects
from tidemill.optimize.rules.push_windows import push_windows
from tidemill.optimize.rules.rank_objects import rank_objects
from tidemill.optimize.rules.remove_distinct import remove_distinct
from tidemill.optimize.rules.remove_empty_parts import remove_empty_parts
from tidemill.optimize.rules.remove_now_windows import remove_now_windows
from tidemill.optimize.rules.replace_semi_joins import replace_semi_joins
from tidemill.optimize.rules.simplify_filters import simplify_filters
from tidemill.optimize.rules.take_first_rows import take_first_rows
from tidemill.optimize.sharing import Parts
from tidemill.optimize.statistics import Statistics
from tidemill.timeline import TimeDomain

Trace = list[tuple[str, Plan]]
"""The names of the rules that changed a plan, in order, each with the plan after it."""

HEURISTICS: Final = [
    # First what makes plans smaller, so that the others have less to look at.
    conventional(simplify_filters),
    conventional(remove_empty_parts),
    conventional(cancel_difference, "B is the same both times, whatever its columns are called"),
    temporal(remove_now_windows, "size 1, no slide, no bounds"),
    conventional(merge_projects, "nothing that takes work is computed twice"),
    conventional(merge_filters, "the upper condition cannot fail"),
    conventional(
        take_first_rows, "no PARTITION BY; nothing else needs the number; ROW_NUMBER, not RANK"
    ),
    # Before filters move: rows that are compared with themselves are still seen to be the same.
    conventional(
        compare_with_extremes,
        "one comparison other than =, beside equalities; no relation to look rows up in",
    ),
    # A test moves into the condition of a join, is copied to the other side there, and goes on
    # below: in this order, since a test that has gone on is not seen by the join any more.
    conventional(join_on_filters, "the condition cannot fail, or is a range above a product"),
    conventional(derive_filters, "columns of one type, compared with constants"),
    temporal(
        push_filters,
        "the condition cannot fail on rows that it would not have seen; count windows: it tests"
        " whole partitions; aggregates: group keys",
    ),
    # Before duplicates are let through to the right side of a semi-join.
    conventional(replace_semi_joins, "the condition ties all columns of a key of the right side"),
    conventional(remove_distinct, "a key of the rows is known, or copies do not matter"),
    conventional(push_distinct, "projections: what is left out follows from what is kept"),
    # Projections go below windows first: they may stand between a window and a union.
    temporal(
        push_projects,
        "count windows: the first columns stay first, and the others follow from them;"
        " partitions: their columns stay",
    ),
    temporal(push_windows),
]
"""Rules that make no plan worse. They run in this order, again and again, until none applies."""

COSTED: Final = [
    # Before joins are put in order, since it changes what is joined.
    costed(aggregate_early, "no user-defined aggregates"),
    costed(rank_objects, "a score that never falls when a row comes; one window"),
    costed(order_joins, "three inputs or more; conditions that may fail are checked last"),
]
"""Rules that choose between plans by cost. They run once each."""

LAST: Final = [
    # After all others, since they may need columns to see that they apply.
    whole(prune_columns),
]

RULES: Final = [*HEURISTICS, *COSTED, *LAST]

_MOST_ROUNDS = 100  # far more than any plan needs


def optimize(
    plan: Plan,
    statistics: Statistics | None = None,
    trace: Trace | None = None,
    off: Collection[str] = (),
    hints: Hints | None = None,
    domain: TimeDomain = TimeDomain.TICKS,
    notes: Notes | None = None,
    functions: Functions | None = None,
) -> Plan:
    """A plan with the same answer at every instant that costs less to run.

    Steps are added to the `trace`; the rules named in `off` are not used. Of the `hints`, those
    about statistics are expected to be in the `statistics` already. The `domain` is that of the
    streams' time, which tells what rate to expect of an unknown stream. What
    rules have to say about their choices is added to the `notes`. `functions` are the user's.
    """
    written: Notes = [] if notes is None else notes
    known = RuleContext(
        statistics or Statistics(), hints or Hints(), domain, written, functions or {}
    )
    return _Optimization(known, [] if trace is None else trace, off).of(plan)


class _Optimization:
    def __init__(self, known: RuleContext, trace: Trace, off: Collection[str]) -> None:
        self._known = known
        self._trace = trace
        self._off = off
        self._parts = Parts()

    def of(self, plan: Plan) -> Plan:
        plan = self._to_fixed_point(self._parts.unified(plan))
        return self._once(COSTED + LAST, plan)

    def _to_fixed_point(self, plan: Plan) -> Plan:
        for _ in range(_MOST_ROUNDS):
            before, plan = plan, self._once(HEURISTICS, plan)
            if plan is before:
                return plan
        raise AssertionError(f"rules undo each other: {[name for name, _ in self._trace[-20:]]}")

    def _once(self, rules: list[Rule], plan: Plan) -> Plan:
        for rule in rules:
            if rule.name not in self._off:
                plan = self._apply(rule, plan)
        return plan

    def _apply(self, rule: Rule, plan: Plan) -> Plan:
        look()
        after = self._parts.unified(rule.apply(plan, self._known))
        if after is plan:
            return plan
        check_columns(rule.name, plan, after)
        self._trace.append((rule.name, after))
        return after
