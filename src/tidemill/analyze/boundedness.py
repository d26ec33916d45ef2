"""How long rows hold, and whether what an operator must remember stops growing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Final

from tidemill.algebra import (
    Aggregate,
    AntiJoin,
    CountWindow,
    Distinct,
    Dstream,
    Granularity,
    Istream,
    Join,
    OverRows,
    Plan,
    Ranking,
    Rstream,
    Scan,
    SemiJoin,
    SessionWindow,
    SourceKind,
    StarJoin,
    TimeWindow,
    TopK,
    Union,
    Unnest,
)
from tidemill.algebra.nodes import Binary, Filter, MultiJoin, Project
from tidemill.algebra.sets import SetOperation, Sides

_NAMES: Final[dict[type[Plan], str]] = {
    Join: "the join",
    SemiJoin: "the semi-join",
    AntiJoin: "the anti-join",
    TopK: "ORDER BY ... LIMIT",
    OverRows: "OVER",
    Aggregate: "COUNT(DISTINCT ...)",
    CountWindow: "the count window",
    SessionWindow: "the session window",
}


@dataclass(frozen=True)
class Validity:
    """What is known about the intervals of a plan's rows.

    `grows` is the window through which more and more rows are valid together.
    """

    instant: bool = False  # every row holds at a single instant
    never_ends: bool = False  # a row that came stays
    constant: bool = False  # nothing comes or goes after the beginning
    grows: TimeWindow | CountWindow | None = None


def validity(plan: Plan) -> Validity:
    """Derive the validity of a plan's rows.

    >>> from tidemill.algebra import Schema
    >>> bid = Scan("bid", "b", Schema(()))
    >>> validity(bid).instant, validity(TimeWindow(bid, 10)).instant
    (True, False)
    """
    found: Validity = plan.fold(_derive)
    return found


@singledispatch
def _derive(plan: Plan, inputs: list[Validity]) -> Validity:
    raise TypeError(f"nobody knows how long rows of {type(plan).__name__} hold")


@_derive.register
def _scan(plan: Scan, inputs: list[Validity]) -> Validity:
    constant = plan.kind is SourceKind.CONSTANT
    return Validity(plan.kind is SourceKind.STREAM, constant, constant)


@_derive.register(Filter)
@_derive.register(Project)
@_derive.register(Unnest)
def _rows(plan: Plan, inputs: list[Validity]) -> Validity:
    return inputs[0]


@_derive.register(Ranking)
@_derive.register(SessionWindow)
@_derive.register(StarJoin)
def _bounded(plan: Plan, inputs: list[Validity]) -> Validity:
    return Validity()


@_derive.register(TimeWindow)
@_derive.register(CountWindow)
def _window(plan: TimeWindow | CountWindow, inputs: list[Validity]) -> Validity:
    if plan.first is None:
        return Validity(never_ends=True, grows=plan)
    now = isinstance(plan, TimeWindow) and plan.size == 1 and plan.slide == 1 and plan.is_fixed
    return inputs[0] if now else Validity()


@_derive.register(Istream)
@_derive.register(Dstream)
@_derive.register(Rstream)
def _stream(plan: Plan, inputs: list[Validity]) -> Validity:
    return Validity(instant=True)


@_derive.register
def _granularity(plan: Granularity, inputs: list[Validity]) -> Validity:
    return replace(inputs[0], instant=False)


@_derive.register(Aggregate)
@_derive.register(TopK)
def _few(plan: Plan, inputs: list[Validity]) -> Validity:
    # Their rows change with every row that comes, even when none goes; few are valid at once.
    return replace(inputs[0], never_ends=inputs[0].constant, grows=None)


@_derive.register
def _over_rows(plan: OverRows, inputs: list[Validity]) -> Validity:
    # Rows stay, but their values change with those of others.
    return replace(inputs[0], never_ends=inputs[0].constant)


@_derive.register
def _distinct(plan: Distinct, inputs: list[Validity]) -> Validity:
    return replace(inputs[0], grows=None)


@_derive.register(Join)
@_derive.register(MultiJoin)
def _join(plan: Plan, inputs: list[Validity]) -> Validity:
    both = _both(inputs)
    return replace(both, grows=None if both.instant else both.grows)


@_derive.register
def _semi_join(plan: SemiJoin, inputs: list[Validity]) -> Validity:
    both = _both(inputs)
    return replace(both, grows=None if both.instant else inputs[0].grows)


@_derive.register
def _anti_join(plan: AntiJoin, inputs: list[Validity]) -> Validity:
    left, right = inputs
    # A partner may come later, so a row that came need not stay.
    stays = left.never_ends and right.constant
    return Validity(left.instant, stays, left.constant and right.constant, left.grows)


@_derive.register
def _set_operation(plan: SetOperation, inputs: list[Validity]) -> Validity:
    (left, _), both, facts = inputs, _both(inputs), plan.facts
    # What is subtracted may come later, so a row that came need not stay.
    sides = zip(inputs, facts.grows_with, strict=True)
    stays = all(side.never_ends if grows else side.constant for side, grows in sides)
    known = replace(both, never_ends=stays)
    match facts.sides:
        case Sides.EITHER:
            return replace(known, instant=all(side.instant for side in inputs))
        case Sides.BOTH:
            return replace(known, grows=None if both.instant else both.grows)
        case Sides.LEFT:
            return replace(known, instant=left.instant, grows=left.grows)


def _both(inputs: list[Validity]) -> Validity:
    """Of rows that hold while rows of all inputs do."""
    return Validity(
        instant=any(side.instant for side in inputs),
        never_ends=all(side.never_ends for side in inputs),
        constant=all(side.constant for side in inputs),
        grows=next((side.grows for side in inputs if side.grows), None),
    )


def growing(plan: Plan) -> Iterator[tuple[str, TimeWindow | CountWindow]]:
    """The operators that must remember ever more rows, each with the window that causes it.

    A window is reported once, with the lowest operator above it.
    """
    found: dict[TimeWindow | CountWindow, str] = {}

    def visit(node: Plan, inputs: list[Validity]) -> Validity:
        for window in _remembered(node, inputs):
            found.setdefault(window, _name(node))
        return _derive(node, inputs)

    plan.fold(visit)
    for window, name in found.items():
        yield name, window


def _remembered(node: Plan, inputs: list[Validity]) -> Iterator[TimeWindow | CountWindow]:
    if isinstance(node, Binary) and not isinstance(node, Union):
        # Rows wait for partners; the partners in a constant relation are all there.
        pairs = [(inputs[0], inputs[1]), (inputs[1], inputs[0])]
        yield from (one.grows for one, other in pairs if one.grows and not other.constant)
    elif isinstance(node, TopK | OverRows | CountWindow | SessionWindow) or _counts_distinct(node):
        yield from (one.grows for one in inputs if one.grows)


def _name(node: Plan) -> str:
    return node.facts.called if isinstance(node, SetOperation) else _NAMES[type(node)]


def _counts_distinct(node: Plan) -> bool:
    return isinstance(node, Aggregate) and any(call.distinct for call in node.calls)
