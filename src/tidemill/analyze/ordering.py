"""ORDER BY and LIMIT: the first rows of every instant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from tidemill.algebra import Plan, Project, Scalar, SortKey, TopK, column
from tidemill.algebra.ranking import CONFIDENCE
from tidemill.analyze.context import Context
from tidemill.analyze.correlation import Link
from tidemill.analyze.relation import Output, PlannedRelation, unique_names
from tidemill.errors import PlanError, UnsupportedError
from tidemill.sql import error_at


@dataclass(frozen=True)
class Term:
    """One part of ORDER BY, bound."""

    node: exp.Expr
    ordered: exp.Ordered


def order_terms(tree: exp.Expr) -> list[exp.Ordered]:
    """The parts of ORDER BY, if a LIMIT goes with them."""
    order, limit = tree.args.get("order"), tree.args.get("limit")
    if order is not None and limit is None:
        message = "ORDER BY needs a LIMIT: a result that goes on and on has no order"
        raise error_at(PlanError, message, order, "add LIMIT, as in ORDER BY price DESC LIMIT 10")
    return list(order.expressions) if order is not None else []


def ordinal(node: exp.Expr, outputs: int) -> int | None:
    """The index of the output that a number in ORDER BY or GROUP BY means."""
    if not isinstance(node, exp.Literal) or node.is_string:
        return None
    if not node.name.isdecimal() or not 1 <= int(node.name) <= outputs:
        message = f"there is no column {node.name} in the select list"
        raise error_at(PlanError, message, node, f"columns are numbered from 1 to {outputs}")
    return int(node.name) - 1


def first_rows(
    relation: PlannedRelation,
    tree: exp.Expr,
    terms: list[Term],
    context: Context,
    link: Link | None,
    scalar: Callable[[exp.Expr], Scalar],
) -> PlannedRelation:
    """The relation cut to its first rows, if the query has a LIMIT."""
    if tree.args.get("limit") is None:
        _refuse_offset(tree)
        return relation
    if link is not None and link.domain is not None and not link.is_trial:
        message = "LIMIT in a subquery that mentions columns of the query around it"
        help = "use MIN, MAX or EXISTS instead"
        raise error_at(UnsupportedError, f"{message} is not supported", tree.args["limit"], help)
    _refuse_fetch(tree.args["limit"])
    limit, offset = _number(tree, "limit"), _number(tree, "offset")
    names = unique_names(relation.names)
    items = list(zip(names, (output.scalar for output in relation.outputs), strict=True))
    keys = tuple(_key(term, items, context, scalar) for term in terms)
    approximate = _confidence(tree)
    plan = TopK(_with_sort_columns(relation, names, items), keys, limit, offset, approximate)
    return replace(
        relation,
        plan=plan,
        outputs=tuple(
            Output(o.name, column(name, o.scalar.type), o.node)
            for name, o in zip(names, relation.outputs, strict=True)
        ),
        calls=None,
        has_one_row=limit == 1,
    )


def _confidence(tree: exp.Expr) -> float | None:
    """How much is made of what is likely, if the answer may be approximate."""
    node = tree.args.get("approximate")
    if node is None:
        return None
    return float(node.text("confidence") or CONFIDENCE)


def _with_sort_columns(
    relation: PlannedRelation, names: tuple[str, ...], items: list[tuple[str, Scalar]]
) -> Plan:
    if len(items) == len(names):
        return relation.close(names)
    kept = [(name, column(name, relation.plan.schema[name])) for name in relation.carried]
    return Project(relation.plan, (*kept, *items))


def _refuse_offset(tree: exp.Expr) -> None:
    if (offset := tree.args.get("offset")) is not None:
        raise error_at(PlanError, "OFFSET needs a LIMIT", offset, "add LIMIT before it")


def _refuse_fetch(node: exp.Expr) -> None:
    """FETCH FIRST n ROWS ONLY is LIMIT n; its other forms are not."""
    options = node.args.get("limit_options") if isinstance(node, exp.Fetch) else None
    for name in ("percent", "with_ties"):
        if options is not None and options.args.get(name):
            words = name.replace("_", " ").upper()
            help = "write FETCH FIRST n ROWS ONLY, or LIMIT n"
            raise error_at(UnsupportedError, f"FETCH ... {words} is not supported", node, help)


_DIGITS = 18
"""Of numbers that fit into 64 bits, whatever they are."""


def _number(tree: exp.Expr, clause: str) -> int:
    node = tree.args.get(clause)
    if node is None:
        return 0
    value = node.args["count"] if isinstance(node, exp.Fetch) else node.expression
    least = 1 if clause == "limit" else 0
    text = value.name if isinstance(value, exp.Literal) and not value.is_string else ""
    if not text.isdecimal() or len(text) > _DIGITS or int(text) < least:
        name = clause.upper()
        message = f"{name} takes a whole number, at least {least}"
        if len(text) > _DIGITS:
            message = f"{name} takes a number of at most {_DIGITS} digits"
        if text == "0":
            message = "LIMIT 0 could never give a row"
        raise error_at(PlanError, message, value, f"write for example {name} 10")
    return int(text)


def _key(
    term: Term,
    items: list[tuple[str, Scalar]],
    context: Context,
    scalar: Callable[[exp.Expr], Scalar],
) -> SortKey:
    """Sort by an output if it has the value, else by a column that is dropped later."""
    node = term.node.unnest()
    name = next((name for name, known in items if known.node.unnest() == node), None)
    if name is None:
        name = context.fresh("sort")
        items.append((name, scalar(node)))
    descending = bool(term.ordered.args.get("desc"))
    return SortKey(name, descending, bool(term.ordered.args.get("nulls_first")))
