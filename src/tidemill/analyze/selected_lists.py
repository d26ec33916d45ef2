"""EXPLODE and its kin in the select list, as Spark has them: one, and not inside an expression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from tidemill.algebra import Plan
from tidemill.analyze.generators import elements_of, is_generator, read_generator
from tidemill.analyze.select_list import Selected
from tidemill.analyze.stage import PlanStage
from tidemill.analyze.trees import placed
from tidemill.errors import UnsupportedError
from tidemill.sql import error_at

Known = dict[exp.Expr, exp.Expr]
"""The columns that stand for calls, where a call makes one column."""


def unnest_selected(
    stage: PlanStage, selected: Sequence[Selected]
) -> tuple[Plan, list[Selected], Known] | None:
    """The rows of a generator in the select list, and the list with its columns; None without."""
    calls = [each for each in selected if is_generator(each.node)]
    if not calls:
        return None
    if len(calls) > 1:
        help = "write the others in FROM: CROSS JOIN UNNEST(...) AS u(x)"
        message = "a select list takes one function that makes rows"
        raise error_at(UnsupportedError, message, calls[1].origin, help)
    plan, columns = _made(stage, calls[0])
    listed = [new for each in selected for new in (columns if each is calls[0] else [each])]
    known = {calls[0].node: columns[0].node} if len(columns) == 1 else {}
    return plan, listed, known


def _made(stage: PlanStage, call: Selected) -> tuple[Plan, list[Selected]]:
    origin = call.origin
    several = origin.expressions if isinstance(origin, exp.Aliases) else []
    given = tuple(part.name for part in several) or ((call.name,) if call.name else ())
    generator = replace(read_generator(call.node), names=given)
    prefix = stage.context.fresh("explode")
    elements = elements_of(generator, generator.values, stage, prefix)
    names = zip(elements.columns.names, elements.items, strict=True)
    columns = [Selected(name, placed(own, origin), origin) for name, (own, _) in names]
    return elements.over(stage.plan), columns
