"""What a rule is, and how a rewriting of single nodes becomes one of whole plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tidemill.algebra.plan import Plan
from tidemill.catalog.hints import Hints
from tidemill.deadline import look
from tidemill.expressions.functions import Functions
from tidemill.optimize.reducible import is_reducible
from tidemill.optimize.sharing import Cut
from tidemill.optimize.statistics import Statistics
from tidemill.timeline import TimeDomain

Rewrite = Callable[[Plan], Plan]
"""A rewriting of a node and what is below; it returns the same object where it does not apply."""


Notes = list[Callable[[], str]]
"""What rules have to say about their choices."""


@dataclass(frozen=True)
class RuleContext:
    """What a rule may decide by: statistics of streams, their time, and what the user wants.

    `functions` are those of the user. Rules leave `notes` about their choices, which are written
    when someone wants to read them.
    """

    statistics: Statistics
    hints: Hints
    domain: TimeDomain = TimeDomain.TICKS
    notes: Notes = field(default_factory=list)
    functions: Functions = field(default_factory=dict)

    @staticmethod
    def nothing(hints: Hints | None = None) -> RuleContext:
        """Nothing is known of the streams."""
        return RuleContext(Statistics(), hints or Hints())


@dataclass(frozen=True)
class Rule:
    """A named rewriting of plans; `needs` says in words when it applies."""

    name: str
    summary: str
    needs: str
    apply: Callable[[Plan, RuleContext], Plan]


def conventional(rewrite: Rewrite, needs: str = "") -> Rule:
    """A rule of relational algebra: it is offered snapshot-reducible operators only (10.4.1)."""

    def where_reducible(node: Plan) -> Plan:
        return rewrite(node) if is_reducible(node) else node

    return _rule(rewrite, needs, lambda plan, _: everywhere(where_reducible, plan))


def temporal(rewrite: Rewrite, needs: str = "") -> Rule:
    """A rule that knows about time: it is offered all operators (10.3.2)."""
    return _rule(rewrite, needs, lambda plan, _: everywhere(rewrite, plan))


def whole(change: Rewrite, needs: str = "") -> Rule:
    """A rule that takes the whole plan at once."""
    return _rule(change, needs, lambda plan, _: change(plan))


def costed(change: Callable[[Plan, RuleContext], Plan], needs: str = "") -> Rule:
    """A rule that takes the whole plan at once, and decides by what is known about streams."""
    return _rule(change, needs, change)


def _rule(
    function: Callable[..., Plan], needs: str, apply: Callable[[Plan, RuleContext], Plan]
) -> Rule:
    """The one name serves the function too, and its docstring starts with the summary."""
    summary = (function.__doc__ or "").splitlines()[0].rstrip(".")
    return Rule(function.__name__, summary, needs, apply)


def everywhere(rewrite: Rewrite, plan: Plan) -> Plan:
    """The plan with a rewriting applied at every node, from the top, as often as it applies.

    A rewriting never sees below a part that is used several times: what is computed once stays
    computed once. Each such part is rewritten for itself.
    """
    return Cut(plan).rewritten(lambda tree: _from_the_top(rewrite, tree))


def _from_the_top(rewrite: Rewrite, node: Plan) -> Plan:
    node = _as_often_as_it_applies(rewrite, node)
    below = node.with_children([_from_the_top(rewrite, child) for child in node.children])
    if below is node:
        return node
    # What has changed below may let it apply here once more.
    again = _as_often_as_it_applies(rewrite, below)
    return below if again is below else _from_the_top(rewrite, again)


def _as_often_as_it_applies(rewrite: Rewrite, node: Plan) -> Plan:
    while (changed := rewrite(node)) is not node:
        check_columns(rewrite.__name__, node, changed)
        node = changed
        look()
    return node


def check_columns(name: str, before: Plan, after: Plan) -> None:
    """A rewriting may not change the names and types of columns."""
    if before.schema != after.schema:
        raise AssertionError(
            f"{name} changed the columns [{before.schema}] to [{after.schema}]:\n{before}\n{after}"
        )
