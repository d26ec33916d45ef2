"""A region of joins as a tree of m-way joins.

Inputs that have an attribute in common become one join of many inputs. Where there are several
such attributes, the joins form a tree: its shape is the cheapest of all, or for many attributes
the one that joins next what costs least.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tidemill.algebra.nodes import Filter, MultiJoin
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar, column, conjunction, equality
from tidemill.optimize.cost.estimates import Estimator
from tidemill.optimize.joins.choice import with_orders
from tidemill.optimize.joins.region import JoinRegion, within

_MOST_TRIED = 4  # attributes, the joins on which are tried in every order

Members = tuple[int, ...]


@dataclass(frozen=True)
class _Part:
    """What is still to be joined with each other, what it cost so far, and what was checked."""

    plans: tuple[Plan, ...]
    cost: float
    open: frozenset[int]  # conditions that no join has checked, by their number


class JoinTree:
    """Finds the tree of a region; `order` is a user's wish, as aliases of sources."""

    def __init__(self, region: JoinRegion, estimator: Estimator, order: Sequence[str] = ()) -> None:
        self._region = region
        self._estimator = estimator
        self._order = tuple(order)
        # By the identity of the inputs, which the joins keep.
        self._done: dict[tuple[int, ...], tuple[MultiJoin, float]] = {}

    def plan(self) -> Plan:
        """The region with its best joins; it has the columns of the inputs, in any order."""
        inputs = tuple(map(self._narrowed, self._region.inputs))
        part = _Part(inputs, 0.0, frozenset(range(len(self._region.conditions))))
        (result,) = self._best(part).plans
        rest = conjunction(*self._region.checks)
        return result if rest is None else Filter(result, rest)

    def _narrowed(self, plan: Plan) -> Plan:
        """An input with several columns that must be equal to the same columns of others."""
        condition = conjunction(*within(self._region.classes, plan))
        return plan if condition is None else Filter(plan, condition)

    def _best(self, part: _Part) -> _Part:
        if len(part.plans) == 1:
            return part
        following = [self._joined(part, members) for members in self._candidates(part)]
        if len(following) > _MOST_TRIED:
            return self._best(min(following, key=lambda other: other.cost))
        return min(map(self._best, following), key=lambda other: other.cost)

    def _candidates(self, part: _Part) -> list[Members]:
        """Inputs that have an attribute in common; if none do, all."""
        names = [set(plan.schema.names) for plan in part.plans]
        found = {
            tuple(number for number, own in enumerate(names) if own & each)
            for each in self._region.classes
        }
        linked = sorted(members for members in found if len(members) > 1)
        everyone = tuple(range(len(part.plans)))
        # The last join on an attribute takes along what is joined by other conditions only.
        return linked if len(linked) > 1 else [everyone]

    def _joined(self, part: _Part, members: Members) -> _Part:
        inputs = tuple(part.plans[number] for number in members)
        key = tuple(map(id, inputs))
        if key not in self._done:
            self._done[key] = self._join(inputs, part.open)
        join, cost = self._done[key]
        others = tuple(plan for at, plan in enumerate(part.plans) if at not in members)
        checked = {at for at in part.open if self._region.conditions[at] in join.conditions}
        return _Part((join, *others), part.cost + cost, part.open - checked)

    def _join(self, inputs: tuple[Plan, ...], open: frozenset[int]) -> tuple[MultiJoin, float]:
        known = frozenset(name for plan in inputs for name in plan.schema.names)
        conditions = [self._region.conditions[at] for at in sorted(open)]
        keys, equalities = self._equalities(inputs)
        now = (*equalities, *(part for part in conditions if part.columns <= known))
        return with_orders(MultiJoin(inputs, keys, now), self._estimator, self._order)

    def _equalities(
        self, inputs: tuple[Plan, ...]
    ) -> tuple[tuple[tuple[str, ...], ...], list[Scalar]]:
        """Attributes that most inputs have in common are keys, the others conditions."""
        found = [
            column_of for each in self._region.classes if (column_of := _columns(each, inputs))
        ]
        widest = max(map(len, found), default=0)
        of_most = next((set(each) for each in found if len(each) == widest), set())
        keyed = [each for each in found if set(each) == of_most]
        keys = tuple(
            tuple(each[number] for each in keyed) if number in of_most else ()
            for number in range(len(inputs))
        )
        rest = [part for each in found if each not in keyed for part in _chain(each, inputs)]
        return keys, rest


def _columns(attribute: frozenset[str], inputs: tuple[Plan, ...]) -> dict[int, str]:
    """The attribute's column in every input that has one, if several do."""
    found = {
        number: min(attribute & set(plan.schema.names))
        for number, plan in enumerate(inputs)
        if attribute & set(plan.schema.names)
    }
    return found if len(found) > 1 else {}


def _chain(columns: dict[int, str], inputs: tuple[Plan, ...]) -> Iterator[Scalar]:
    scalars = [column(name, inputs[at].schema[name]) for at, name in columns.items()]
    for one, other in pairwise(scalars):
        yield equality(one, other)
