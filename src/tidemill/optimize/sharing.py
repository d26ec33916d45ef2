"""Parts that a plan uses several times: found, kept apart while rules work, and kept one.

A plan is written as a tree, but equal parts of it are computed once. A rule that moved something
into such a part would make it two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property

from tidemill.algebra.plan import Memo, Plan
from tidemill.algebra.schema import Schema


@dataclass(frozen=True, eq=False)
class Shared(Plan):
    """Stands for a part that is used elsewhere too; rules do not look inside.

    One stands for each part, so two are equal only if they are one. (Without a method of its own
    it would be compared as plans without fields are, and equal all others.)
    """

    part: Plan

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def _inputs(self) -> list[tuple[str, tuple[Plan, ...]]]:
        return []

    @cached_property
    def schema(self) -> Schema:
        return self.part.schema

    def details(self) -> str:
        return self.part.label


def opened(plan: Plan) -> Plan:
    """The part itself, where something stands for it: to look at, not to take apart."""
    return plan.part if isinstance(plan, Shared) else plan


def fenced(plan: Plan, running: Mapping[Plan, Plan]) -> Plan:
    """A plan in which the answers of running queries are leaves, so that rules leave them whole.

    `running` has what each of them means, and the plan that runs for that.
    """
    return plan.replace_parts(lambda part: Shared(running[part]) if part in running else None)


def unfenced(plan: Plan) -> Plan:
    """The plan with what stands behind its leaves."""
    return _joined(plan, lambda part: part)


class Cut:
    """A plan cut into trees at its shared parts."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._shared = {id(part): Shared(part) for part in shared_parts(plan)}
        self._changed = False

    def rewritten(self, change: Callable[[Plan], Plan]) -> Plan:
        """The plan with every tree changed; the same object if none was."""
        if not self._shared:
            return change(self._plan)

        def rewrite(part: Plan) -> Plan:
            tree = part.with_children(
                [child.replace_parts(self._stand_in) for child in part.children]
            )
            changed = change(tree)
            self._changed |= changed is not tree
            return _joined(changed, rewritten)

        rewritten: Memo[Plan, Plan] = Memo(rewrite)
        result = rewritten(self._plan)
        return result if self._changed else self._plan

    def _stand_in(self, part: Plan) -> Plan | None:
        return self._shared.get(id(part))


def _joined(tree: Plan, part: Callable[[Plan], Plan]) -> Plan:
    """A tree with the parts that something stands for in it."""
    return tree.replace_parts(lambda node: part(node.part) if isinstance(node, Shared) else None)


def shared_parts(plan: Plan) -> list[Plan]:
    """The operators of a plan that several others read (leaves left aside).

    >>> from tidemill.algebra import Distinct, Scan, Union
    >>> once = Distinct(Scan("bid", "b", Schema(())))
    >>> [part.label for part in shared_parts(Union(once, once))]
    ['Distinct']
    """
    uses = Counter(id(child) for node in plan.walk() for child in node.children)
    return [part for part in plan.walk() if uses[id(part)] > 1 and part.children]


class Parts:
    """Makes equal parts of plans the same object."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Plan] = {}
        self._unified: Memo[Plan, Plan] = Memo(self._one)

    def unified(self, plan: Plan) -> Plan:
        """An equal plan in which equal parts are one, also with those of plans before."""
        return self._unified(plan)

    def _one(self, plan: Plan) -> Plan:
        node = plan.with_children(list(map(self._unified, plan.children)))
        return self._known.setdefault(_key(node), node)


def _key(node: Plan) -> tuple[object, ...]:
    """What tells a node from others, if its inputs are unified: comparing them would take long."""
    return (type(node), *(_part_key(getattr(node, field.name)) for field in fields(node)))


def _part_key(value: object) -> object:
    if isinstance(value, Plan):
        return id(value)
    if isinstance(value, tuple) and value and isinstance(value[0], Plan):
        return tuple(map(id, value))
    return value
