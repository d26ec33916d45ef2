"""The inputs of joins in one order, whichever a query names first."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from tidemill.algebra.plan import Memo
from tidemill.physical.operator import Exec
from tidemill.physical.operators.join import JoinExec


def with_ordered_inputs(plan: Exec) -> Exec:
    """The plan with the inputs and keys of its joins in the order of their texts.

    That changes the order of columns, so joins stay as they are where someone may look at it.
    """
    return _Ordering().fixed(plan)


class _Ordering:
    """Parts whose columns may be in another order are free, others are fixed."""

    def __init__(self) -> None:
        self.fixed = Memo(self._fixed)
        self._free = Memo(self._freed)

    def _fixed(self, node: Exec) -> Exec:
        below = self._free if node.by_name else self.fixed
        return node.with_children(list(map(below, node.children)))

    def _freed(self, node: Exec) -> Exec:
        below = self._free if node.by_name or node.keeps_columns else self.fixed
        same = node.with_children(list(map(below, node.children)))
        return _ordered(same) if isinstance(same, JoinExec) else same


def _ordered(join: JoinExec) -> JoinExec:
    order = sorted(range(len(join.inputs)), key=lambda number: str(join.inputs[number]))
    place = {old: new for new, old in enumerate(order)}
    keys = tuple(join.keys[number] for number in order)
    columns = sorted(range(len(join.safe_keys)), key=lambda at: [k[at : at + 1] for k in keys])
    orders, buckets, safe = join.orders, join.buckets, join.null_safe
    return replace(
        join,
        inputs=tuple(join.inputs[number] for number in order),
        keys=tuple(tuple(k[at] for at in columns) if k else () for k in keys),
        conditions=tuple(sorted(join.conditions, key=str)),
        null_safe=tuple(safe[at] for at in columns) if safe else (),
        orders=tuple(tuple(place[old] for old in orders[n]) for n in order) if orders else (),
        buckets=tuple(buckets[number] for number in order) if buckets else (),
    )


class RunningJoins:
    """The joins of a graph by their results, whatever way they find them.

    A new query that asks for the same takes the choice of the join that runs.
    """

    def __init__(self) -> None:
        self._known: dict[Exec, JoinExec] = {}

    def note(self, plan: Exec) -> None:
        """Take note of the joins of a plan that runs."""
        for node in plan.walk():
            if isinstance(node, JoinExec):
                self._known.setdefault(_undecided(node), node)

    def forget_all_but(self, running: Collection[Exec]) -> None:
        """Let go of joins that do not run any more."""
        self._known = {key: join for key, join in self._known.items() if join in running}

    def adopted(self, plan: Exec) -> Exec:
        """The plan with the joins that run in the place of others that give the same."""
        return plan.rewrite(self._adopted)

    def _adopted(self, node: Exec) -> Exec:
        known = isinstance(node, JoinExec) and self._known.get(_undecided(node))
        return known or node


def _undecided(join: JoinExec) -> JoinExec:
    return replace(join, orders=(), buckets=())
