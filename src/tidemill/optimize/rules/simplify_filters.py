"""Conditions that are known, in part or whole."""

from __future__ import annotations

from functools import lru_cache

import polars as pl
import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.nodes import Filter
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar, conjuncts, rewrite
from tidemill.algebra.schema import Schema
from tidemill.analyze.folding import as_filter
from tidemill.analyze.trees import COMPARISONS
from tidemill.expressions import compile_items
from tidemill.optimize.expressions import all_of, is_total

_NULL_SAFE = (exp.NullSafeEQ, exp.NullSafeNEQ)


def simplify_filters(plan: Plan) -> Plan:
    """Simplify conditions by what is known, and remove filters that keep all rows.

    >>> from tidemill.optimize.examples import show
    >>> show(simplify_filters, "SELECT item FROM bid WHERE 1 = 1 AND price > 2 AND price > 2")
    01 Project [item := bid.item]
    02   Filter 1 = 1 AND bid.price > 2 AND bid.price > 2
    03     Scan bid columns=[item, price]
    =>
    01 Project [item := bid.item]
    02   Filter bid.price > 2
    03     Scan bid columns=[item, price]
    """
    match plan:
        case Filter(child, predicate):
            parts = [_simplified(part) for part in conjuncts(predicate)]
            known = [part for part in dict.fromkeys(parts) if not _is(part, True)]
            if not known:
                return child
            never = next((part for part in known if _is(part, False)), None)
            simple = all_of(known) if never is None else never
            return plan if simple == predicate else Filter(child, simple)
    return plan


def _is(part: Scalar, truth: bool) -> bool:
    return isinstance(part.node, exp.Boolean) and part.node.this is truth


@lru_cache(maxsize=4096)  # every round of the rules asks again
def _simplified(part: Scalar) -> Scalar:
    return Scalar(as_filter(rewrite(part.node, _known)), pa.bool_())


def _known(node: exp.Expr) -> exp.Expr:
    """A comparison whose answer does not depend on the row."""
    if not isinstance(node, (*COMPARISONS, exp.Is)):
        return node
    sides = [node.this, node.expression]
    if not isinstance(node, (*_NULL_SAFE, exp.Is)) and any(map(_is_null, sides)):
        return exp.null()
    return _computed(node)


def _is_null(node: exp.Expr) -> bool:
    inner = node.unnest()
    return isinstance(inner, exp.Null) or (isinstance(inner, exp.Cast) and _is_null(inner.this))


def _computed(node: exp.Expr) -> exp.Expr:
    constant = Scalar(node, pa.bool_())
    nothing = Schema(())
    if constant.columns or not is_total(constant, nothing):
        return node
    one_row = pl.DataFrame({"row": [0]})
    answer = compile_items([("answer", constant)], nothing, {}).run(one_row)["answer"][0]
    return exp.null() if answer is None else exp.convert(answer)
