"""LIMIT, OFFSET and FETCH: how many rows a query asks for."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from tidemill.algebra.ranking import CONFIDENCE
from tidemill.errors import PlanError, UnsupportedError
from tidemill.sql import error_at

MOST_DIGITS = 18
"""Of numbers that fit into 64 bits, whatever they are."""


@dataclass(frozen=True)
class Limit:
    """How many rows, after how many others, and whether the equals of the last one come too.

    `confidence` is the weight of what is likely, if the answer may be approximate.
    """

    count: int
    offset: int = 0
    with_ties: bool = False
    confidence: float | None = None


def read_limit(tree: exp.Expr) -> Limit | None:
    """What a query says after its ORDER BY; None if it asks for all rows."""
    if tree.args.get("limit") is None:
        _refuse_offset(tree)
        return None
    ties = _has_ties(tree)
    return Limit(_number(tree, "limit"), _number(tree, "offset"), ties, _confidence(tree))


def _refuse_offset(tree: exp.Expr) -> None:
    if (offset := tree.args.get("offset")) is not None:
        raise error_at(PlanError, "OFFSET needs a LIMIT", offset, "add LIMIT before it")


def _has_ties(tree: exp.Expr) -> bool:
    node = tree.args["limit"]
    options = node.args.get("limit_options")
    if options is None:
        return False
    if options.args.get("percent"):
        help = "write FETCH FIRST n ROWS ONLY, or LIMIT n"
        raise error_at(UnsupportedError, "a LIMIT in PERCENT is not supported", node, help)
    ties = bool(options.args.get("with_ties"))
    if ties and tree.args.get("order") is None:
        help = "add ORDER BY, as in ORDER BY price DESC FETCH FIRST 2 ROWS WITH TIES"
        raise error_at(PlanError, "WITH TIES needs ORDER BY", node, help)
    return ties


def _confidence(tree: exp.Expr) -> float | None:
    node = tree.args.get("approximate")
    if node is None:
        return None
    return float(node.text("confidence") or CONFIDENCE)


def _number(tree: exp.Expr, clause: str) -> int:
    node = tree.args.get(clause)
    if node is None:
        return 0
    value = node.args.get("count") if isinstance(node, exp.Fetch) else node.expression
    if value is None:  # FETCH FIRST ROW ONLY
        return 1
    least = 1 if clause == "limit" else 0
    text = value.name if isinstance(value, exp.Literal) and not value.is_string else ""
    if not text.isdecimal() or len(text) > MOST_DIGITS or int(text) < least:
        name = clause.upper()
        message = f"{name} takes a whole number, at least {least}"
        if len(text) > MOST_DIGITS:
            message = f"{name} takes a number of at most {MOST_DIGITS} digits"
        if text == "0":
            message = "LIMIT 0 could never give a row"
        raise error_at(PlanError, message, value, f"write for example {name} 10")
    return int(text)
