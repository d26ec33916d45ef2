"""How long rows hold, and whether what an operator must remember stops growing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
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
    Plan,
    Ranking,
    Rstream,
    Scan,
    SemiJoin,
    SourceKind,
    StarJoin,
    TimeWindow,
    TopK,
    Union,
)
from tidemill.algebra.nodes import Binary
from tidemill.algebra.sets import SetFacts, SetOperation, Sides

_NAMES: Final[dict[type[Plan], str]] = {
    Join: "the join",
    SemiJoin: "the semi-join",
    AntiJoin: "the anti-join",
    TopK: "ORDER BY ... LIMIT",
    Aggregate: "COUNT(DISTINCT ...)",
    CountWindow: "the count window",
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
    return plan.fold(_derive)


def _derive(plan: Plan, inputs: list[Validity]) -> Validity:
    if isinstance(plan, Scan):
        constant = plan.kind is SourceKind.CONSTANT
        return Validity(plan.kind is SourceKind.STREAM, constant, constant)
    if isinstance(plan, StarJoin | Ranking):
        return Validity()
    if len(inputs) == 2:
        return _binary(plan, *inputs)
    return _unary(plan, inputs[0])


def _unary(plan: Plan, child: Validity) -> Validity:
    if isinstance(plan, TimeWindow | CountWindow):
        return _window(plan, child)
    if isinstance(plan, Istream | Dstream | Rstream):
        return Validity(instant=True)
    if isinstance(plan, Granularity):
        return replace(child, instant=False)
    if isinstance(plan, Aggregate | TopK):
        # Their rows change with every row that comes, even when none goes; few are valid at once.
        return replace(child, never_ends=child.constant, grows=None)
    if isinstance(plan, Distinct):
        return replace(child, grows=None)
    return child


def _window(plan: TimeWindow | CountWindow, child: Validity) -> Validity:
    size = plan.size if isinstance(plan, TimeWindow) else plan.rows
    if size is None:
        return Validity(never_ends=True, grows=plan)
    if isinstance(plan, TimeWindow) and size == 1 and plan.slide == 1 and plan.is_fixed:
        return child
    return Validity()


def _binary(plan: Plan, left: Validity, right: Validity) -> Validity:
    both = Validity(
        instant=left.instant or right.instant,
        never_ends=left.never_ends and right.never_ends,
        constant=left.constant and right.constant,
        grows=left.grows or right.grows,
    )
    if isinstance(plan, SetOperation):
        return _set_operation(plan.facts, both, left, right)
    if isinstance(plan, Join):
        return replace(both, grows=None if both.instant else both.grows)
    if isinstance(plan, SemiJoin):
        return replace(both, grows=None if both.instant else left.grows)
    # A partner may come later, so a row that came need not stay.
    stays = left.never_ends and right.constant
    return Validity(left.instant, stays, both.constant, left.grows)


def _set_operation(facts: SetFacts, both: Validity, left: Validity, right: Validity) -> Validity:
    # What is subtracted may come later, so a row that came need not stay.
    sides = zip((left, right), facts.grows_with, strict=True)
    stays = all(side.never_ends if grows else side.constant for side, grows in sides)
    known = replace(both, never_ends=stays)
    match facts.sides:
        case Sides.EITHER:
            return replace(known, instant=left.instant and right.instant)
        case Sides.BOTH:
            return replace(known, grows=None if both.instant else both.grows)
        case Sides.LEFT:
            return replace(known, instant=left.instant, grows=left.grows)


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
    elif isinstance(node, TopK | CountWindow) or _counts_distinct(node):
        yield from (one.grows for one in inputs if one.grows)


def _name(node: Plan) -> str:
    return node.facts.called if isinstance(node, SetOperation) else _NAMES[type(node)]


def _counts_distinct(node: Plan) -> bool:
    return isinstance(node, Aggregate) and any(call.distinct for call in node.calls)
