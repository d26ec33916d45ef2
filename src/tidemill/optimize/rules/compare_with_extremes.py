"""Quantified comparisons: a row against all, or any, of the rows of a subquery."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.nodes import AntiJoin, SemiJoin
from tidemill.algebra.plan import Plan
from tidemill.algebra.relations import is_constant, relation_scan
from tidemill.algebra.scalar import Scalar, conjuncts, equality
from tidemill.expressions.equality import equality_of
from tidemill.optimize.contained import over_the_same
from tidemill.optimize.expressions import all_of, is_total
from tidemill.optimize.extremes import ExtremeValues, is_null
from tidemill.optimize.keys import unique_keys
from tidemill.optimize.nulls import never_null
from tidemill.optimize.quantified import Comparison, comparison_of

_Join = SemiJoin | AntiJoin


def compare_with_extremes(plan: Plan) -> Plan:
    """Compare a row with the largest or smallest of many values, not with each of them.

    >>> from tidemill.optimize.examples import show
    >>> least = "(SELECT item FROM auction WINDOW(RANGE 5))"
    >>> show(compare_with_extremes, f"SELECT price FROM bid WHERE item >= ANY {least}")
    01 Project [price := bid.price]
    02   SemiJoin on bid.item >= auction.item
    03     Scan bid columns=[item, price]
    04     TimeWindow range=5
    05       Scan auction columns=[item, seller]
    =>
    01 Project [price := bid.price]
    02   SemiJoin on bid.item >= #min.auction.item
    03     Scan bid columns=[item, price]
    04     Aggregate [#min.auction.item := MIN(auction.item)]
    05       TimeWindow range=5
    06         Scan auction columns=[item, seller]
    """
    match plan:
        case SemiJoin() | AntiJoin() if (found := _question(plan)) is not None:
            return _largest_of_all(plan, found) or _with_extremes(plan, found)
    return plan


@dataclass(frozen=True)
class _Question:
    """What a join asks: one comparison, for the rows of the right side that `others` choose."""

    comparison: Comparison
    others: tuple[Scalar, ...]
    keys: tuple[str, ...]


def _question(plan: _Join) -> _Question | None:
    left, right = plan.left.schema, plan.right.schema
    compared: list[Comparison] = []
    others: list[Scalar] = []
    keys: dict[str, None] = {}
    for part in conjuncts(plan.condition):
        mine = [name for name in right.names if name in part.columns]
        if not mine or equality_of(part, left, right) is not None:
            others.append(part)
            keys.update(dict.fromkeys(mine))
        elif (found := comparison_of(part, left, right)) is not None:
            compared.append(found)
        else:
            return None
    if len(compared) != 1 or not _is_worth(plan.right, compared[0].value, frozenset(keys)):
        return None
    return _Question(compared[0], tuple(others), tuple(keys))


def _is_worth(right: Plan, value: Scalar, keys: frozenset[str]) -> bool:
    """Whether the right side has several rows to choose from, and they can be aggregated."""
    if any(key <= keys for key in unique_keys(right)) or value.columns <= keys:
        return False
    # Rows find what a relation has for them at once, and look at it no more.
    looked_up = relation_scan(right) is not None and not is_constant(right)
    return not looked_up and is_total(value, right.schema)


def _with_extremes(plan: _Join, question: _Question) -> Plan:
    """The same join with one row per group."""
    found = question.comparison
    values = ExtremeValues(plan.right, found.value, question.keys)
    met = [
        Scalar(
            found.operator(this=found.operand.node.copy(), expression=values.of(each)), pa.bool_()
        )
        for each in found.extremes
        if found.operator is not None
    ]
    if found.or_unknown and not never_null(found.operand, plan.left):
        met.append(is_null(found.operand.node))
    if found.or_unknown and not values.are_known:
        met.append(values.some_unknown(True))
    nodes = [part.node for part in met]
    any_of = exp.or_(*nodes) if nodes else exp.false()
    tested = Scalar(exp.Paren(this=any_of) if len(nodes) > 1 else any_of, pa.bool_())
    return type(plan)(plan.left, values.aggregate(), all_of([*question.others, tested]))


def _largest_of_all(plan: _Join, question: _Question) -> Plan | None:
    """Of rows that are compared with all of them, themselves among them, take the largest.

    Only the largest is not smaller than any. It is found by its value, without a look at others.
    """
    found = question.comparison
    if not isinstance(plan, AntiJoin) or question.others or not _is_plain(found):
        return None
    if not found.or_unknown and not never_null(found.operand, plan.left):
        return None  # a row without a value is kept: no other is larger
    names = found.operand.node.name, found.value.node.name
    right = over_the_same(plan.left, names[0], plan.right, names[1])
    if right is None:
        return None
    values = ExtremeValues(right, found.value, ())
    (largest,) = found.extremes
    tests = [equality(found.operand, Scalar(values.of(largest), found.value.type))]
    if found.or_unknown and not values.are_known:
        tests.append(values.some_unknown(False))
    return SemiJoin(plan.left, values.aggregate(), all_of(tests))


def _is_plain(found: Comparison) -> bool:
    return found.operator in (exp.LT, exp.GT) and found.operand.is_column and found.value.is_column
