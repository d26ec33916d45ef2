"""Which share of rows, or of pairs of rows, meets a condition."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar
from tidemill.optimize.cost.values import EQUALITIES

if TYPE_CHECKING:
    from tidemill.optimize.cost.estimates import Estimator

# Where nothing is known: guesses of System R, and of most planners since. They need not be right,
# only rank conditions as people write them: equality keeps little, a range more.
EQUALITY = 1 / 10
RANGE = 1 / 3
BETWEEN = 1 / 4
PATTERN = 1 / 10  # LIKE and its relatives are written to find something particular
NULLS = 1 / 20  # most columns have few NULLs
FLAG = 1 / 2  # a boolean column
MOST_OF_A_LIST = 1 / 2  # IN with many values
OTHER = 1 / 3  # a function of the user, say

_RANGES = (exp.GT, exp.GTE, exp.LT, exp.LTE)
_PATTERNS = (exp.Like, exp.ILike, exp.RegexpLike, exp.SimilarTo, exp.StartsWith)


class Selectivities:
    """Selectivities of conditions over the columns of some inputs."""

    def __init__(self, estimator: Estimator) -> None:
        self._estimator = estimator
        self._done: dict[tuple[int, ...], tuple[object, float]] = {}

    def of(self, condition: Scalar, inputs: tuple[Plan, ...]) -> float:
        """Parts that are joined with AND are taken to be independent."""
        key = (id(condition), *map(id, inputs))
        if key not in self._done:
            self._done[key] = ((condition, inputs), self._of(condition, inputs))
        return self._done[key][1]

    def _of(self, condition: Scalar, inputs: tuple[Plan, ...]) -> float:
        parts = self._estimator.conjuncts(condition)
        if len(parts) == 1:
            return min(1.0, max(0.0, self._node(condition.node, inputs)))
        observed = self._observed(condition.node)
        if observed is not None:
            return observed
        return prod(self.of(part, inputs) for part in _without_implied(parts))

    def _observed(self, node: exp.Expr) -> float | None:
        known = self._estimator.statistics.selectivities
        return known.get(str(Scalar(node, pa.bool_()))) if known else None

    def _node(self, node: exp.Expr, inputs: tuple[Plan, ...]) -> float:
        observed = self._observed(node)
        return self._kind(node, inputs) if observed is None else observed

    def _kind(self, node: exp.Expr, inputs: tuple[Plan, ...]) -> float:
        match node:
            case exp.Paren():
                return self._node(node.this, inputs)
            case exp.And():
                return self._node(node.left, inputs) * self._node(node.right, inputs)
            case exp.Or():
                left, right = self._node(node.left, inputs), self._node(node.right, inputs)
                return left + right - left * right
            case exp.Not():
                return 1 - self._node(node.this, inputs)
            case exp.NEQ():
                return 1 - self._equality(node, inputs)
            case exp.In():
                return min(len(node.expressions) * self._equality(node, inputs), MOST_OF_A_LIST)
            case exp.Boolean():
                return 1.0 if node.this else 0.0
        if isinstance(node, EQUALITIES):
            return self._equality(node, inputs)
        return _guess(node)

    def _equality(self, node: exp.Expr, inputs: tuple[Plan, ...]) -> float:
        """One in as many values as the side with more of them has."""
        sides = (node.this, node.args.get("expression"))
        names = [_columns(side) for side in sides if side is not None]
        values = [self._values(found, inputs) for found in names]
        known = [value for value in values if value is not None]
        if known:
            return 1 / max(1.0, *known)
        at = [self._input(found, inputs) for found in names]
        if len(at) == 2 and at[0] is not None and at[1] is not None and at[0] is not at[1]:
            # Most joins follow a reference to a key, so the larger side has all its rows different.
            return 1 / max(1.0, *(self._estimator.live_rows(plan) for plan in at if plan))
        return EQUALITY

    def _values(self, names: frozenset[str], inputs: tuple[Plan, ...]) -> float | None:
        plan = self._input(names, inputs)
        return None if plan is None else self._estimator.domain(plan, names)

    def _input(self, names: frozenset[str], inputs: tuple[Plan, ...]) -> Plan | None:
        """The input that has all these columns."""
        if not names:
            return None
        return next((plan for plan in inputs if names <= self._estimator.names(plan)), None)


def _without_implied(parts: tuple[Scalar, ...]) -> Iterator[Scalar]:
    """Leave out equalities that follow from those before: of a = b, b = c, a = c the last."""
    same: dict[str, set[str]] = {}
    for part in parts:
        sides = _compared_columns(part.node)
        if not sides:
            yield part
            continue
        left, right = (same.setdefault(name, {name}) for name in sides)
        if left is not right:
            left |= right
            same.update(dict.fromkeys(left, left))
            yield part


def _compared_columns(node: exp.Expr) -> tuple[str, ...]:
    """The two columns that an equality compares; none if it compares something else."""
    if not isinstance(node, EQUALITIES):
        return ()
    sides = (node.this, node.expression)
    return tuple(side.name for side in sides) if all(map(_is_column, sides)) else ()


def _is_column(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column)


def _columns(node: exp.Expr) -> frozenset[str]:
    return frozenset(found.name for found in node.find_all(exp.Column))


def _guess(node: exp.Expr) -> float:
    """What a condition of this kind keeps, when nothing else is known."""
    if isinstance(node, _RANGES):
        return RANGE
    if isinstance(node, _PATTERNS):
        return PATTERN
    kinds: dict[type[exp.Expr], float] = {exp.Between: BETWEEN, exp.Is: NULLS, exp.Column: FLAG}
    return kinds.get(type(node), OTHER)
