"""Join many inputs at once, in the order that costs least."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tidemill.algebra import nodes
from tidemill.algebra.plan import Plan
from tidemill.algebra.relations import is_changing
from tidemill.algebra.scalar import column
from tidemill.optimize.cost.estimates import Estimator
from tidemill.optimize.joins.choice import describe
from tidemill.optimize.joins.region import JoinRegion, region_of
from tidemill.optimize.joins.tree import JoinTree
from tidemill.optimize.rule import RuleContext
from tidemill.optimize.sharing import Cut

_FEWEST = 3  # inputs; two can only be joined in one way


def order_joins(plan: Plan, known: RuleContext) -> Plan:
    """Make neighbouring joins one join of many inputs, in the order that costs least.

    >>> from tidemill.optimize.examples import plan_of
    >>> plan = plan_of(
    ...     "SELECT price FROM bid, auction a WINDOW(RANGE 9), seller s"
    ...     " WHERE bid.item = a.item AND s.id = a.item"
    ... )
    >>> print(order_joins(plan, RuleContext.nothing()))
    01 Project [price := bid.price]
    02   MultiJoin on bid.item = a.item = s.id orders=[bid s a; a s bid; s bid a]
    03     Scan bid columns=[item, price]
    04     TimeWindow range=9
    05       Scan auction as a columns=[item, seller]
    06     Scan seller as s columns=[id] constant
    """
    estimator = Estimator(known.statistics, known.domain)
    order = known.hints.order or ()
    ordered = Cut(plan).rewritten(partial(_ordered, estimator=estimator, order=order))
    if ordered is not plan and not order:
        _take_notes(ordered, known, estimator)
    return ordered


def _ordered(plan: Plan, estimator: Estimator, order: tuple[str, ...]) -> Plan:
    def other_order(part: Plan) -> Plan | None:
        region = region_of(part) if isinstance(part, nodes.Join) else None
        if region is None or not _is_free(region):
            return None
        inputs = tuple(each.replace_parts(other_order) for each in region.inputs)
        return _only(JoinTree(replace(region, inputs=inputs), estimator, order).plan(), part)

    return plan.replace_parts(other_order)


def _is_free(region: JoinRegion) -> bool:
    """Whether the inputs may be joined in another order, and that can be of use."""
    if len(region.inputs) < _FEWEST or any(map(is_changing, region.inputs)):
        # What changes is looked up by a stream alone, without waiting for other inputs.
        return False
    # Checks come last. What is only linked by them would be multiplied out until then.
    return not region.checks or region.is_linked


def _take_notes(plan: Plan, known: RuleContext, estimator: Estimator) -> None:
    for node in plan.walk():
        if isinstance(node, nodes.MultiJoin):
            known.notes.append(partial(describe, node, estimator))


def _only(joined: Plan, plan: Plan) -> Plan:
    """The columns that the plan had, in their order."""
    if joined.schema == plan.schema:
        return joined
    items = tuple((field.name, column(field.name, field.type)) for field in plan.schema)
    return nodes.Project(joined, items)
