"""Warnings of streams without windows, whose rows hold for a single instant."""

from __future__ import annotations

from sqlglot import exp

from tidemill.algebra import Plan, Scan, SourceKind
from tidemill.analyze.boundedness import validity
from tidemill.analyze.scope import Item
from tidemill.analyze.stage import PlanStage
from tidemill.timeline import TimeDomain


def warn_of_groups(stage: PlanStage) -> None:
    """Aggregating single instants is rarely what was meant."""
    items = stage.scope.items
    if any(item.is_windowed for item in items):
        return
    size = "1 HOUR" if stage.context.domain is TimeDomain.MICROSECONDS else "100"
    for item in items:
        if any(_is_stream(node) for node in item.plan.walk()):
            message = f"`{item.alias}` has no window: this aggregates the rows of a single instant"
            help = f"did you mean {item.node.name or item.alias} WINDOW(RANGE {size})?"
            stage.context.warn(message, item.node, help)
            return


def warn_of_joins(stage: PlanStage, select: exp.Select) -> None:
    """Rows of two streams rarely have the same microsecond; whole numbers may well be equal."""
    if stage.context.domain is not TimeDomain.MICROSECONDS or _equates_times(stage, select):
        return
    alone = [item for item in stage.scope.items if _is_instant(item)]
    if len(alone) > 1:
        one, other = alone[:2]
        message = (
            f"`{one.alias}` and `{other.alias}` have no windows: "
            "this joins rows of the same microsecond only"
        )
        name = one.node.name or one.alias
        help = f"did you mean {name} WINDOW(RANGE 1 HOUR), for partners that come within an hour?"
        stage.context.warn(message, other.node, help)


def _is_instant(item: Item) -> bool:
    # The elements of a list, and what LATERAL finds, come from the rows that they meet.
    is_named = isinstance(item.node, exp.Table) and isinstance(item.node.this, exp.Identifier)
    if item.is_windowed or not is_named or not validity(item.plan).instant:
        return False
    return any(_is_stream(node) for node in item.plan.walk())


def _equates_times(stage: PlanStage, select: exp.Select) -> bool:
    times = {name.casefold() for item in stage.scope.items for name in item.hidden}
    return any(
        all(isinstance(side, exp.Column) and side.name.casefold() in times for side in sides)
        for sides in ((node.left, node.right) for node in select.find_all(exp.EQ))
    )


def _is_stream(node: Plan) -> bool:
    return isinstance(node, Scan) and node.kind is SourceKind.STREAM
