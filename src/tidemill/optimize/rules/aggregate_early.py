"""Aggregate inputs of a join before it, where that costs less."""

from __future__ import annotations

from functools import partial

from tidemill.algebra.nodes import entries, input_name
from tidemill.algebra.plan import Plan
from tidemill.algebra.relations import is_changing
from tidemill.algebra.scalar import conjunction
from tidemill.optimize.cost.estimates import Estimator
from tidemill.optimize.early.choice import EarlyChoice
from tidemill.optimize.early.plan_costs import JoinInput, choose_plan
from tidemill.optimize.early.query import AggregateJoin
from tidemill.optimize.early.rewrite import Mask, early_plan
from tidemill.optimize.rule import RuleContext
from tidemill.optimize.sharing import Cut


def aggregate_early(plan: Plan, known: RuleContext) -> Plan:
    """Aggregate inputs of a join before it, where that costs less.

    >>> from tidemill.catalog.hints import Hints
    >>> from tidemill.optimize.examples import plan_of
    >>> plan = plan_of(
    ...     "SELECT COUNT(*) AS n FROM bid WINDOW(RANGE 9), auction a WINDOW(RANGE 9)"
    ...     " WHERE bid.item = a.item"
    ... )
    >>> print(aggregate_early(plan, RuleContext.nothing(Hints(early=frozenset({"bid"})))))
    01 Project [n := count1]
    02   Aggregate [count1 := COUNT(* x #early0.COUNT(*))]
    03     Join on bid.item = a.item
    04       Aggregate by=[bid.item] [#early0.COUNT(*) := COUNT(*)]
    05         TimeWindow range=9
    06           Scan bid columns=[item, price]
    07       TimeWindow range=9
    08         Scan auction as a columns=[item, seller]
    """
    estimator = Estimator(known.statistics, known.domain)
    return Cut(plan).rewritten(partial(_rewritten, estimator=estimator, known=known))


def _rewritten(plan: Plan, estimator: Estimator, known: RuleContext) -> Plan:
    def early(part: Plan) -> Plan | None:
        if (query := AggregateJoin.of(part)) is None:
            return None
        above = early_plan(query, _mask(query, estimator, known))
        return above.with_children([each.replace_parts(early) for each in above.children])

    return plan.replace_parts(early)


def _mask(query: AggregateJoin, estimator: Estimator, known: RuleContext) -> Mask:
    hints = known.hints
    if hints.late:
        return [False] * len(query.inputs)
    if hints.early is not None:
        return [bool(hints.early.intersection(entries(child))) for child in query.inputs]
    return best_mask(query, estimator, known)


def best_mask(query: AggregateJoin, estimator: Estimator, known: RuleContext) -> Mask:
    """The inputs to aggregate early; only where enough is known to decide."""
    allowed = [_is_known(query, child, estimator) for child in query.inputs]
    if not any(allowed):
        return allowed
    inputs = [_join_input(query, child, estimator) for child in query.inputs]
    choice = choose_plan(inputs, selectivity=_selectivity(query, estimator), allowed=allowed)
    known.notes.append(partial(_describe, query, choice))
    return choice.mask


def _describe(query: AggregateJoin, choice: EarlyChoice) -> str:
    """What to tell people about a choice."""
    names = [input_name(child) for child in query.inputs]
    early = ", ".join(name for name, wanted in zip(names, choice.mask, strict=True) if wanted)
    others = [price for mask, price in choice.ranking if mask != choice.mask]
    times = min(others) / choice.cost if others and choice.cost else 1.0
    late = choice.late / choice.cost if choice.cost else 1.0
    return (
        f"aggregated before the join: {early or 'nothing'}; the next best of"
        f" {len(choice.ranking)} plans costs {times:.2f} times as much, the late one {late:.2f}"
    )


def _is_known(query: AggregateJoin, child: Plan, estimator: Estimator) -> bool:
    joined, others = _columns(query, child)
    # What changes is better looked up row by row.
    return not is_changing(child) and estimator.domain(child, (*joined, *others)) is not None


def _join_input(query: AggregateJoin, child: Plan, estimator: Estimator) -> JoinInput:
    joined, others = _columns(query, child)
    keys = estimator.groups(child, joined) if joined else 1.0
    groups = estimator.groups(child, others) if others else 1.0
    return JoinInput(estimator.of(child), keys, groups)


def _columns(query: AggregateJoin, child: Plan) -> tuple[list[str], list[str]]:
    """The columns of an input by which it is joined, and the others that it is grouped by."""
    names = child.schema.names
    joined = [name for name in names if name in query.join_columns]
    other = query.group_columns | query.single_columns
    return joined, [name for name in names if name in other and name not in joined]


def _selectivity(query: AggregateJoin, estimator: Estimator) -> float:
    condition = conjunction(*query.conditions)
    return estimator.selectivity(condition, *query.inputs)
