"""How far the score of an object can still rise: what its streams promise."""

from __future__ import annotations

import math
from collections.abc import Mapping

from sqlglot import exp

from tidemill.algebra.aggregates import AggregateCall
from tidemill.algebra.intervals import Interval, interval_in
from tidemill.algebra.nodes import Filter, Project, Scan
from tidemill.algebra.plan import Plan
from tidemill.algebra.promises import Recurrence, presented
from tidemill.algebra.ranking import Promise
from tidemill.expressions.functions import Functions
from tidemill.optimize.ranking.question import NotRanked, Question, whole
from tidemill.optimize.ranking.scores import rises, stands_alone

_ITSELF = Interval(1, 1)
_LARGEST = 2.0**62  # whole numbers above could add up to more than a column holds


def promises_of(question: Question, functions: Functions) -> tuple[Promise, ...] | None:
    """What each stream promises; None if scores rise, but nobody knows how far.

    Raises `NotRanked` if the score may fall when a row comes.
    """
    branches = [whole(branch) for branch in question.branches]
    values = [[_values(branch, call) for call in question.calls] for branch in branches]
    together = {
        call.name: _total(call, [row[number] for row in values])
        for number, call in enumerate(question.calls)
    }
    if not rises(question.score.node, together, functions):
        raise NotRanked("its score may fall when a row comes")
    if _rows_stand_alone(question):
        return tuple(Promise(None, tuple(0.0 for _ in row)) for row in values)
    kept = [_recurrence(branch, question) for branch in branches]
    return _promises(question, kept, values)


def _rows_stand_alone(question: Question) -> bool:
    """Whether an object has the right columns as long as the row is there that makes its score.

    Other columns need the other rows too, unless they tell the same as the score.
    """
    maxima = frozenset(call.name for call in question.calls if call.function == "MAX")
    score = question.score
    others = [s for name, s in question.items if name != question.top.order[0].column]
    computed = [scalar for scalar in others if not scalar.columns <= set(question.keys)]
    same = score.is_column and all(scalar.columns <= score.columns for scalar in computed)
    return stands_alone(score.node, maxima) and (same or not computed)


def _promises(
    question: Question,
    kept: list[Recurrence | None],
    values: list[list[Interval | None]],
) -> tuple[Promise, ...] | None:
    found = []
    for recurrence, row in zip(kept, values, strict=True):
        highs = tuple(None if each is None else each.high for each in row)
        if recurrence is None or any(high == math.inf for high in highs if high is not None):
            return None
        found.append(Promise(recurrence.most, highs, recurrence.within is not None))
    totals = [
        sum(p.most * abs(high) for p in found if p.most and (high := p.highs[number]) is not None)
        for number in range(len(question.calls))
    ]
    return None if any(total > _LARGEST for total in totals) else tuple(found)


def _values(branch: Plan, call: AggregateCall) -> Interval | None:
    """What a row of a stream can bring to a call; None: nothing."""
    if call.argument is None:
        return _ITSELF
    found = interval_in(branch, call.argument)
    return _ITSELF if found is not None and call.function == "COUNT" else found


def _total(call: AggregateCall, values: list[Interval | None]) -> Interval:
    """Between which numbers a call lies. It must not fall when a row comes."""
    known = [each for each in values if each is not None]
    low = min((each.low for each in known), default=0.0)
    high = max((each.high for each in known), default=0.0)
    if call.function == "MAX":
        return Interval(low, high)
    if low < 0:
        raise NotRanked(f"{call.function}({call.argument}) may fall: values below 0 may come")
    return Interval(0.0 if call.function == "COUNT" else low, math.inf)


def _recurrence(branch: Plan, question: Question) -> Recurrence | None:
    """How many rows of an object a stream has at most."""
    found = _source(branch, {key: key for key in question.keys})
    if found is None:
        return None
    scan, names = found
    recurrence = scan.recurs
    if recurrence is None or not set(recurrence.per) <= set(names.values()):
        return None
    if recurrence.within is None:
        return recurrence
    # A promise within some time holds for every window that is no longer than that.
    wide = question.size is not None and recurrence.within >= question.size
    return recurrence if wide else None


def _source(plan: Plan, names: Mapping[str, str]) -> tuple[Scan, dict[str, str]] | None:
    """The source of a stream, and the names that the columns of the object have there."""
    match plan:
        case Scan():
            own = {f"{plan.alias}.{field.name}": field.name for field in plan.columns}
            found = {key: own[name] for key, name in names.items() if name in own}
            return plan, found
        case Filter():
            return _source(plan.child, names)
        case Project():
            items = {name: presented(scalar.node) for name, scalar in plan.items}
            columns = {
                key: node.name
                for key, name in names.items()
                if isinstance(node := items[name], exp.Column)
            }
            return _source(plan.child, columns)
    return None
