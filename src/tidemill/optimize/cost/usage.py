"""Memory and processing that our operators will need."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

from tidemill.algebra import nodes
from tidemill.algebra.aggregates import AggregateCall
from tidemill.algebra.over_rows import OverRows
from tidemill.algebra.plan import Memo, Plan
from tidemill.algebra.ranking import Ranking
from tidemill.algebra.relations import is_constant
from tidemill.algebra.scalar import Scalar, conjunction
from tidemill.algebra.star import StarJoin
from tidemill.expressions.bounds import bounds_of
from tidemill.optimize.cost.constants import MEASURED, Constants, Steps
from tidemill.optimize.cost.discrete import instants
from tidemill.optimize.cost.estimates import Estimator
from tidemill.optimize.cost.state import State, kind_of, state_of
from tidemill.optimize.cost.values import EQUALITIES

NANOSECOND = 1e-9

AnyJoin = nodes.Join | nodes.MultiJoin | StarJoin


@dataclass(frozen=True)
class Usage:
    """What an operator, or a plan, needs: rows and bytes of state, and seconds of one core per
    instant of the streams' time."""

    state_rows: float = 0.0
    state_bytes: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.state_rows + other.state_rows,
            self.state_bytes + other.state_bytes,
            self.seconds + other.seconds,
        )


def _kind(plan: Plan) -> str:
    return plan.ranked.strategy.value if isinstance(plan, Ranking) else kind_of(type(plan))


class CostModel:
    """What plans will need, given how large their streams are."""

    def __init__(self, estimator: Estimator, constants: Constants = MEASURED) -> None:
        self.estimator = estimator
        self._constants = constants
        self._looked_up: Memo[AnyJoin, Scalar | None] = Memo(self._find_looked_up)

    def total(self, plan: Plan) -> Usage:
        """The whole plan; a part that occurs several times runs once."""
        return sum(map(self.of, plan.walk()), Usage())

    def of(self, plan: Plan, work: bool = True) -> Usage:
        """The operator of one node, without its inputs; its memory only, if not its `work`."""
        steps = self._constants.get(_kind(plan), Steps())
        state = state_of(plan, self.estimator)
        kept = state.rows * state.row_width + state.keys * state.key_width
        seconds = self._seconds(plan, steps) if work else 0.0
        own = Usage(state.total, kept + _overhead(state, steps), seconds)
        return sum(self._helpers(plan, state), own)

    def _seconds(self, plan: Plan, steps: Steps) -> float:
        arriving = sum(self.estimator.rate(child) for child in plan.children)
        spent = steps.arrive * arriving + steps.emit * self.estimator.rate(plan)
        spent += steps.key * self.new_keys(plan) + steps.compare * self.compared(plan)
        return spent * NANOSECOND

    def new_keys(self, plan: Plan) -> float:
        """Groups or values per instant that come and were not there: of n, each with probability
        exp(-l/nd)."""
        match plan:
            case nodes.Aggregate() | nodes.Distinct():
                names = plan.keys if isinstance(plan, nodes.Aggregate) else plan.schema.names
                stream = self.estimator.of(plan.child)
                groups = self.estimator.groups(plan.child, names)
                return stream.rate * exp(-stream.live_rows / groups)
        return 0.0

    def compared(self, plan: Plan) -> float:
        """Pairs per instant that a join looks at: those that agree where columns must be equal,
        or else where a value must be in a range; values that functions over rows compute."""
        match plan:
            case nodes.Join() | nodes.MultiJoin() | StarJoin():
                return self.estimator.multi_join(plan.children, self._looked_up(plan)).rate
            case OverRows():
                # Every change of a partition computes the values of all its rows.
                changes = 2 * self.estimator.rate(plan.child)
                return changes * self.estimator.partition_rows(plan) * len(plan.calls)
            case nodes.AntiJoin():
                # It finds the partners of every row, only to leave those rows out.
                return self.estimator.rate(nodes.SemiJoin(plan.left, plan.right, plan.condition))
        return 0.0

    def _find_looked_up(self, plan: AnyJoin) -> Scalar | None:
        parts = () if plan.condition is None else self.estimator.conjuncts(plan.condition)
        equal = [part for part in parts if _is_equality(part)]
        if equal or any(map(is_constant, plan.children)):
            return conjunction(*equal)
        schemas = [child.schema for child in plan.children]
        return conjunction(*(part for part in parts if bounds_of([part], schemas)))

    def _helpers(self, plan: Plan, state: State) -> list[Usage]:
        """What runs besides: the split below a window, the calls of an aggregation."""
        match plan:
            case nodes.TimeWindow() | nodes.CountWindow() | nodes.SessionWindow():
                stream = self.estimator.of(plan.child)
                return [self.of(nodes.Rstream(plan.child))] if stream != instants(stream) else []
            case nodes.Aggregate():
                return [self._call(plan, call, state) for call in plan.calls]
        return []

    def _call(self, plan: nodes.Aggregate, call: AggregateCall, state: State) -> Usage:
        """One call beyond counting rows, which every aggregation does."""
        if call.argument is None:
            return Usage()
        kind = "extreme" if call.function in ("MIN", "MAX") else "total"
        steps = self._constants.get("distinct" if call.distinct else kind, Steps())
        return Usage(0.0, _overhead(state, steps), self._seconds(plan, steps))


def _overhead(state: State, steps: Steps) -> float:
    """Bytes besides the columns that are kept."""
    return state.rows * steps.row_bytes + state.keys * steps.key_bytes


def _is_equality(part: Scalar) -> bool:
    return isinstance(part.node, EQUALITIES)
