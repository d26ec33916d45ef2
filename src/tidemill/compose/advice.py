"""What works, but may not be meant: windows that are missing, and state that grows for ever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tidemill.algebra import Plan, Scan, SourceKind
from tidemill.analyze.boundedness import growing, validity
from tidemill.compose.bench import PlanPiece
from tidemill.compose.model import PlanProblem
from tidemill.timeline import TimeDomain

_MEETING = ("join", "outer_join", "semi_join", "anti_join")


def advice_on(
    kind: str, node: str, inputs: tuple[PlanPiece, ...], piece: PlanPiece
) -> Iterator[PlanProblem]:
    """Warnings about a node that is right."""
    size = "1 HOUR" if piece.domain is TimeDomain.MICROSECONDS else "100"
    help = f"put a Time window of {size} below it"
    if kind == "aggregate" and not piece.is_windowed and _reads_streams(piece.plan):
        message = "its input has no window: this aggregates the rows of a single instant"
        yield PlanProblem(message, help, node, input=0)
    if kind in _MEETING and all(_is_of_instants(each.plan) for each in inputs):
        message = "no input has a window: only rows of the same instant meet"
        yield PlanProblem(message, help.replace("below it", "below one of its inputs"), node)


def advice_on_growth(plan: Plan, nodes: Mapping[int, str]) -> Iterator[PlanProblem]:
    """Warnings about windows that make a plan need ever more memory."""
    for operator, window in growing(plan):
        message = f"{operator} keeps every row of this window for ever"
        yield PlanProblem(message, "give the window a size", nodes.get(id(window)))


def _reads_streams(plan: Plan) -> bool:
    return any(isinstance(n, Scan) and n.kind is SourceKind.STREAM for n in plan.walk())


def _is_of_instants(plan: Plan) -> bool:
    return _reads_streams(plan) and validity(plan).instant
