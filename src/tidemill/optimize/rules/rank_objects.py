"""Find the first groups by a score without keeping and sorting all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial, reduce
from typing import Final

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.nodes import (
    Project,
    Scan,
    TopK,
)
from tidemill.algebra.plan import Plan
from tidemill.algebra.ranking import CONFIDENCE, Promise, Ranked, Ranking, Strategy
from tidemill.algebra.scalar import Scalar, column
from tidemill.algebra.sets import (
    Union,
)
from tidemill.optimize.cost.estimates import Estimator
from tidemill.optimize.cost.usage import CostModel, Usage
from tidemill.optimize.ranking.bounds import promises_of
from tidemill.optimize.ranking.question import NotRanked, Question, question_of
from tidemill.optimize.rule import RuleContext
from tidemill.optimize.sharing import Cut

_STREAM: Final = "#stream"
_BYTE: Final = 1e-13
"""Seconds per row that a byte of state is worth: ten megabytes, a microsecond.

State is not only memory: it is written to checkpoints, and read when a run goes on.
"""


def rank_objects(plan: Plan, known: RuleContext) -> Plan:
    """Find the first groups by a score without keeping and sorting all of them.

    >>> from tidemill.catalog.hints import Hints
    >>> from tidemill.optimize.examples import plan_of
    >>> plan = plan_of(
    ...     "SELECT item, MAX(price) AS top FROM bid WINDOW(RANGE 9)"
    ...     " GROUP BY item ORDER BY top DESC LIMIT 3"
    ... )
    >>> print(rank_objects(plan, RuleContext.nothing(Hints(rank="eaa"))))
    01 Ranking eaa by=[bid.item] score=top limit=3 range=9
    02   Scan bid columns=[item, price]
    """
    return Cut(plan).rewritten(lambda tree: tree.replace_parts(partial(_ranking_of, known=known)))


def _ranking_of(plan: Plan, known: RuleContext) -> Plan | None:
    try:
        question = question_of(plan)
        if question is not None and known.hints.rank != "plain":
            return _ranked(question, known)
    except NotRanked as reason:
        if _is_wanted(plan, known):
            text = f"groups are sorted, not ranked: {reason}"
            known.notes.append(partial(str, text))
    return None


def _is_wanted(plan: Plan, known: RuleContext) -> bool:
    """Whether someone may wonder why objects are not ranked."""
    promised = any(isinstance(part, Scan) and part.recurs is not None for part in plan.walk())
    approximate = isinstance(plan, TopK) and plan.approximate is not None
    return promised or approximate or known.hints.rank is not None


def _ranked(question: Question, known: RuleContext) -> Plan:
    promises = promises_of(question, known.functions)
    choices: dict[str, Plan] = {
        strategy.value: _alternative(question, strategy, promises)
        for strategy in _strategies(question, promises, known.hints.rank)
    }
    if not choices:
        raise NotRanked("nobody knows how far scores can rise: AT MOST or ranges are missing")
    if known.hints.rank is None:
        choices["plain"] = question.top
    model = CostModel(Estimator(known.statistics, known.domain))
    rate = sum(model.estimator.rate(branch) for branch in question.branches)
    usages = {name: model.total(plan) for name, plan in choices.items()}
    best = min(usages, key=lambda name: _cost(usages[name], rate))
    known.notes.append(partial(_describe, best, usages, rate))
    if question.top.approximate is not None and best != Strategy.APPROXIMATE.value:
        known.notes.append(partial(_exact_all_the_same, best, _is_open(promises), known.hints.rank))
    return choices[best]


def _is_open(promises: tuple[Promise, ...] | None) -> bool | None:
    """Whether scores of objects can rise that have come; None if nobody knows how far."""
    return None if promises is None else any(each.most is not None for each in promises)


def _exact_all_the_same(best: str, is_open: bool | None, wanted: str | None) -> str:
    """Why a query that may be answered approximately is answered exactly."""
    if wanted not in (None, Strategy.APPROXIMATE.value):
        reason = f"the hint RANK({wanted}) wants it so"
    elif is_open is None:
        reason = "nobody knows how far scores can rise: AT MOST or ranges are missing"
    elif not is_open:
        reason = "no row that is still to come makes a score larger by a promised amount"
    else:
        reason = f"{best} costs less; /*+ RANK(approximate) */ overrides that"
    return f"APPROXIMATE is not used: {reason}"


def _strategies(
    question: Question, promises: tuple[Promise, ...] | None, wanted: str | None
) -> Iterator[Strategy]:
    if wanted is not None and wanted != Strategy.SLA.value and promises is None:
        return
    if wanted == Strategy.APPROXIMATE.value and question.top.approximate is None:
        raise NotRanked("RANK(approximate) would change the answer: write APPROXIMATE behind LIMIT")
    if wanted == Strategy.APPROXIMATE.value and not _is_open(promises):
        wanted = Strategy.EAA.value  # there is nothing to expect
    if wanted is not None:
        yield Strategy(wanted)
        return
    if promises is None:
        yield Strategy.SLA
        return
    approximate = question.top.approximate is not None and _is_open(promises)
    yield Strategy.APPROXIMATE if approximate else Strategy.EAA
    yield Strategy.SLA


def _cost(usage: Usage, rate: float) -> float:
    return usage.seconds / rate + _BYTE * usage.state_bytes


def _describe(best: str, usages: dict[str, Usage], rate: float) -> str:
    """What to tell people about a choice."""
    shown = (
        f"{name} {usage.seconds / rate * 1e6:.2g} µs per row, {usage.state_rows:.3g} rows of state"
        for name, usage in sorted(usages.items(), key=lambda item: _cost(item[1], rate))
    )
    return f"the first groups are found by {best}: {'; '.join(shown)}"


def _alternative(
    question: Question, strategy: Strategy, promises: tuple[Promise, ...] | None
) -> Plan:
    """The ranking; if the first places are skipped, with the ordinary operator above."""
    top = question.top
    several = len(question.branches) > 1
    highs = tuple(0.0 for _ in question.calls)
    unknown = tuple(Promise(None, highs) for _ in question.branches)
    ranked = Ranked(
        question.keys,
        question.calls,
        question.items,
        top.order[0].column,
        top.limit + top.offset,
        question.size,
        question.rows,
        promises or unknown,
        _STREAM if several else None,
        strategy,
        CONFIDENCE if top.approximate is None else top.approximate,
    )
    plan = Ranking(_rows(question), ranked)
    return plan if not top.offset else replace(top, child=plan, approximate=None)


def _rows(question: Question) -> Plan:
    """The rows of all streams, with the number of the stream behind them.

    It comes last, so that rows have the order that count windows go by.
    """
    if len(question.branches) == 1:
        return question.branches[0]
    return reduce(Union, [_numbered(b, number) for number, b in enumerate(question.branches)])


def _numbered(branch: Plan, number: int) -> Plan:
    constant = Scalar(exp.Literal.number(number), pa.int32())
    if isinstance(branch, Project):
        return replace(branch, items=(*branch.items, (_STREAM, constant)))
    kept = tuple((field.name, column(field.name, field.type)) for field in branch.schema)
    return Project(branch, (*kept, (_STREAM, constant)))
