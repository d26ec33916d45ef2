"""Which queries of a running graph run as one plan, and their constants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace

from tidemill.algebra.nodes import Scan
from tidemill.algebra.plan import Plan
from tidemill.expressions.functions import Functions
from tidemill.graph.query_graph import QueryGraph
from tidemill.graph.shapes.lifting import Shaped, shape_of
from tidemill.graph.shapes.relations import ConstantRelations, is_constants
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec
from tidemill.physical.operators.pick import Constants, PickExec
from tidemill.physical.operators.source import SourceExec
from tidemill.runtime.interface import Root

FEWEST = 16
"""The first queries of a shape run by themselves: a lookup costs more than a few filters."""


class Shapes:
    """Plans that many queries share, one for every shape.

    The constants are in the plans of the queries. So a checkpoint has them, and what the relations
    hold follows from the queries that run.
    """

    def __init__(
        self, graph: QueryGraph, relations: ConstantRelations, fewest: int = FEWEST
    ) -> None:
        self._graph = graph
        self._relations = relations
        self.fewest = fewest
        self._seen: Counter[str] = Counter()
        self._plans: dict[str, PickExec] = {}
        self._roots: Mapping[str, Root] = {}
        self._users: dict[str, Counter[Constants]] = {}
        graph.after_revision.append(lambda carried: self._follow())
        self._follow()

    def plan_of(self, plan: Plan, functions: Functions) -> Exec | None:
        """The operators of one more query, if there are many of its shape."""
        found = shape_of(plan)
        if found is None or _sources(plan) & set(self._graph.run.refillable):
            return None  # others would not read again what is still there of streams
        self._seen[found.relation] += 1
        if self._seen[found.relation] < self.fewest:
            return None
        if found.relation not in self._plans:
            self._plans[found.relation] = self._matched(found, functions)
        return replace(self._plans[found.relation], constants=found.constants)

    def again(self, relation: str, constants: Constants, sources: Collection[str]) -> Exec | None:
        """The operators of one more query of a shape that runs."""
        known = self._plans.get(relation)
        if known is None or set(sources) & set(self._graph.run.refillable):
            return None
        self._seen[relation] += 1
        return replace(known, constants=constants)

    def _matched(self, shape: Shaped, functions: Functions) -> PickExec:
        """The plan of a shape in the words of the graph; constants are no words."""
        plan = PickExec(lower(shape.plan, functions), shape.names, ())
        matched = self._graph.matched(plan, refills=False)
        assert isinstance(matched, PickExec)
        return matched

    @property
    def counts(self) -> Mapping[str, int]:
        """By shape, how many different constants there are."""
        return {name: len(users) for name, users in self._users.items() if users}

    def _follow(self) -> None:
        """Let the relations have the constants of the queries that run."""
        now = {name: query.root for name, query in self._graph.running.items()}
        before, self._roots = self._roots, now
        gone = [root for name, root in before.items() if now.get(name) is not root]
        come = [root for name, root in now.items() if before.get(name) is not root]
        changed: dict[str, dict[Constants, bool]] = {}
        for roots, step in ((come, 1), (gone, -1)):
            for pick in (pick for root in roots for pick in _picks(root)):
                users = self._users.setdefault(relation_of(pick), Counter())
                changed.setdefault(relation_of(pick), {}).setdefault(
                    pick.constants, users[pick.constants] > 0
                )
                users[pick.constants] += step
        for relation, known in changed.items():
            self._change(relation, known)
        # What runs by then may have other words for the parts of those that are not used any more.
        self._plans = {name: plan for name, plan in self._plans.items() if self._users.get(name)}

    def _change(self, relation: str, known: Mapping[Constants, bool]) -> None:
        users = self._users[relation]
        come = [each for each, was in known.items() if users[each] > 0 and not was]
        gone = [each for each, was in known.items() if users[each] == 0 and was]
        for each in [each for each in known if users[each] == 0]:
            del users[each]
        self._relations.change(relation, come, gone)


def relation_of(pick: PickExec) -> str:
    """The relation that the constants of a query are in."""
    names = (leaf.scan.source for leaf in pick.child.walk() if isinstance(leaf, SourceExec))
    return next(name for name in names if is_constants(name))


def _sources(plan: Plan) -> set[str]:
    return {node.source for node in plan.walk() if isinstance(node, Scan)}


def _picks(root: Root) -> Collection[PickExec]:
    return [node for node in root.running.walk() if isinstance(node, PickExec)]
