"""Which part of one plan takes the place of which part of another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from tidemill.algebra.plan import Plan
from tidemill.physical.lowering.items import all_of, only
from tidemill.physical.operator import Exec
from tidemill.physical.operators.migrating import MigratingExec
from tidemill.physical.operators.project import ProjectExec

_CHOICES = ("eager", "orders")
"""Fields that an operator takes over while it runs: what it keeps does not depend on them."""

Pair = tuple[Exec, Exec]


def alike(one: Plan, other: Plan) -> bool:
    """Whether two parts differ at most in their inputs and in choices that can change."""
    if type(one) is not type(other) or len(one.children) != len(other.children):
        return False
    if not one.children:
        return one == other
    if [child.schema for child in one.children] != [child.schema for child in other.children]:
        return False
    changed: Any = one.with_children(other.children)
    names = {field.name for field in fields(changed)}
    choices = {name: getattr(other, name) for name in _CHOICES if name in names}
    same: bool = replace(changed, **choices) == other
    return same


def merged(
    old: Exec,
    new: Exec,
    goes_on: Callable[[Exec, Exec], bool],
    hand_over: Callable[[Exec, Exec], Exec],
) -> Exec | None:
    """The new plan with the parts that differ handed over from the old ones; None if it cannot be.

    Above them, operators of the old plan go on, where that is allowed. Parts that take each
    other's place must have the same columns.
    """
    if old == new:
        return new
    if old.instant_by_instant and alike(old, new) and goes_on(old, new):
        inputs = [merged(a, b, goes_on, hand_over) for a, b in _children(old, new)]
        if all(part is not None for part in inputs):
            return new.with_children([part for part in inputs if part is not None])
    arranged = _arranged(new, old)
    return None if arranged is None else hand_over(old, arranged)


def differing(old: Exec, new: Exec, goes_on: Callable[[Exec, Exec], bool]) -> list[Pair] | None:
    """The parts that `merged` hands over; None if it cannot be."""
    found: list[Pair] = []

    def take_note(one: Exec, other: Exec) -> Exec:
        found.append((one, other))
        return other

    return None if merged(old, new, goes_on, take_note) is None else found


def _arranged(new: Exec, old: Exec) -> Exec | None:
    """The new plan with its columns in the order of the old one."""
    if new.schema == old.schema:
        return new
    same = {(f.name, f.type) for f in new.schema} == {(f.name, f.type) for f in old.schema}
    return only(new, old.schema.names) if same else None


def projected(plan: Exec, times: int) -> Exec:
    """The plan under a number of projections that change nothing."""
    for _ in range(times):
        plan = all_of(plan)
    return plan


def successors(new: Exec, old: Exec) -> dict[Exec, Exec]:
    """For parts of a new plan, the parts of the old one whose operators they go on with.

    >>> from tidemill.algebra import Scan, Schema
    >>> from tidemill.physical.operators.distinct import DistinctExec
    >>> from tidemill.physical.operators.source import SourceExec
    >>> from tidemill.physical.operators.time_window import TimeWindowExec
    >>> bid = SourceExec(Scan("bid", "bid", Schema.of()))
    >>> old, new = (DistinctExec(TimeWindowExec(bid, size), ()) for size in (5, 9))
    >>> [(part.label, whose == old) for part, whose in successors(new, old).items()]
    [('DistinctExec', True)]
    """
    found: dict[Exec, Exec] = {}
    waiting: list[Pair] = [(new, old)]
    while waiting:
        new, old = waiting.pop()
        if new == old or new in found:
            continue
        if alike(new, old):
            found[new] = old
            waiting.extend(_children(new, old))
        else:
            waiting.extend(_below(new, old))
    return found


def _below(new: Exec, old: Exec) -> Iterator[Pair]:
    """Where a hand-over begins or ends, the plans in it succeed those outside."""
    if isinstance(new, MigratingExec):
        yield new.old, old
    elif isinstance(old, MigratingExec):
        yield new, old.new
    elif isinstance(old, ProjectExec) and (_is_same(old) or not isinstance(new, ProjectExec)):
        yield new, old.child
    elif _is_same(new):
        yield new.children[0], old


def _is_same(plan: Exec) -> bool:
    """Whether a projection changes nothing."""
    return isinstance(plan, ProjectExec) and plan == all_of(plan.child)


def _children(one: Exec, other: Exec) -> Iterator[Pair]:
    yield from zip(one.children, other.children, strict=True)


def substituted(plan: Exec, parts: dict[Exec, Exec]) -> Exec:
    """The plan with parts of it replaced by others.

    >>> from tidemill.algebra import Scan, Schema
    >>> from tidemill.physical.operators.source import SourceExec
    >>> from tidemill.physical.operators.time_window import TimeWindowExec
    >>> bid = SourceExec(Scan("bid", "bid", Schema.of()))
    >>> substituted(TimeWindowExec(TimeWindowExec(bid, 5), 7), {TimeWindowExec(bid, 5): bid}).label
    'TimeWindowExec range=7'
    """
    return plan.fold(
        lambda node, inputs: parts[node] if node in parts else node.with_children(inputs)
    )
