"""ORDER BY and LIMIT: the first rows of every instant, and the order in which they are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import count, takewhile

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import (
    Difference,
    Filter,
    OverCall,
    OverRows,
    Plan,
    Project,
    Scalar,
    SemiJoin,
    SortKey,
    TopK,
    column,
)
from tidemill.algebra.over_rows import RANKS
from tidemill.algebra.scalar import column_node
from tidemill.analyze.context import Context
from tidemill.analyze.limits import Limit, read_limit
from tidemill.analyze.relation import Output, PlannedRelation, unique_names
from tidemill.errors import PlanError
from tidemill.long_conditions import joined
from tidemill.sql import error_at


@dataclass(frozen=True)
class Term:
    """One part of ORDER BY, bound."""

    node: exp.Expr
    ordered: exp.Ordered


_SHOWN = "shown"


def allow_order(tree: exp.Expr) -> None:
    """Take note that people see the answer of a query: its ORDER BY needs no LIMIT."""
    while isinstance(tree, exp.Subquery) and tree.args.get("order") is None:
        tree = tree.this
    if (order := tree.args.get("order")) is not None:
        order.meta[_SHOWN] = True


def order_terms(tree: exp.Expr) -> list[exp.Ordered]:
    """The parts of ORDER BY, if a LIMIT goes with them, or people see the rows."""
    order, limit = tree.args.get("order"), tree.args.get("limit")
    if order is not None and limit is None and not order.meta.get(_SHOWN):
        message = "ORDER BY needs a LIMIT here: the rows of a stream or subquery have no order"
        help = "add LIMIT, as in ORDER BY price DESC LIMIT 10, or order the query that reads it"
        raise error_at(PlanError, message, order, help)
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
    scalar: Callable[[exp.Expr], Scalar],
) -> PlannedRelation:
    """The relation cut to its first rows, if the query has a LIMIT."""
    limit = read_limit(tree)
    if limit is None:
        return _shown_in_order(relation, terms)
    # In a subquery, the columns of the query around are there too.
    names = unique_names((*relation.carried, *relation.names))[len(relation.carried) :]
    items = list(zip(names, (output.scalar for output in relation.outputs), strict=True))
    keys = tuple(_key(term, items, context, scalar) for term in terms)
    rows = _with_sort_columns(relation, names, items)
    return replace(
        relation,
        plan=_cut(rows, keys, limit, relation.carried, context),
        outputs=tuple(
            Output(o.name, column(name, o.scalar.type), o.node)
            for name, o in zip(names, relation.outputs, strict=True)
        ),
        calls=None,
        has_one_row=limit.count == 1 and not limit.with_ties,
        # Rows are shown without the columns that only sort them.
        order=tuple(takewhile(lambda key: key.column in names, keys)),
    )


def _cut(
    rows: Plan, keys: tuple[SortKey, ...], limit: Limit, carried: tuple[str, ...], context: Context
) -> Plan:
    """The first rows; in a subquery, those of each row of the query around."""
    if carried:
        return _cut_each(rows, keys, limit, carried, context)
    if not limit.with_ties:
        return TopK(rows, keys, limit.count, limit.offset, limit.confidence)
    tied = _equal_to(TopK(rows, keys, limit.offset + limit.count), rows, context)
    return Difference(tied, TopK(rows, keys, limit.offset)) if limit.offset else tied


def _equal_to(first: TopK, rows: Plan, context: Context) -> Plan:
    """The rows that have the sort keys of one of the first: these, and their ties.

    A RANK says the same, but looks at all rows of an instant whenever one comes or goes.
    """
    names = {key.column: _unused("tie", rows.schema.names, context) for key in first.order}
    items = tuple((new, column(old, rows.schema[old])) for old, new in names.items())
    pairs = [
        exp.NullSafeEQ(this=column_node(old), expression=column_node(new))
        for old, new in names.items()
    ]
    return SemiJoin(rows, Project(first, items), Scalar(joined(exp.And, pairs), pa.bool_()))


def _cut_each(
    rows: Plan, keys: tuple[SortKey, ...], limit: Limit, carried: tuple[str, ...], context: Context
) -> Plan:
    last = "RANK" if limit.with_ties else "ROW_NUMBER"
    functions = dict.fromkeys(["ROW_NUMBER", last] if limit.offset else [last])
    taken = rows.schema.names
    names = {each: _unused(each.lower().split("_")[0], taken, context) for each in functions}
    calls = tuple(OverCall(name, each, (), RANKS[each]) for each, name in names.items())
    most = exp.Literal.number(limit.count + limit.offset)
    tests: list[exp.Expr] = [exp.LTE(this=column_node(names[last]), expression=most)]
    if limit.offset:
        behind = column_node(names["ROW_NUMBER"])
        tests.insert(0, exp.GT(this=behind, expression=exp.Literal.number(limit.offset)))
    return Filter(OverRows(rows, carried, keys, calls), Scalar(joined(exp.And, tests), pa.bool_()))


def _unused(prefix: str, names: Iterable[str], context: Context) -> str:
    """A name for a column beside others, which users have named."""
    taken = {name.casefold() for name in names}
    return next(name for _ in count() if (name := context.fresh(prefix)) not in taken)


def _shown_in_order(relation: PlannedRelation, terms: list[Term]) -> PlannedRelation:
    """The relation with the order in which its rows are shown; all of them hold."""
    names = unique_names(relation.names)
    known = [(name, o.scalar) for name, o in zip(names, relation.outputs, strict=True)]
    keys = []
    for term in terms:
        name = _output_of(term, known)
        if name is None:
            message = "without LIMIT, ORDER BY takes columns of the select list"
            raise error_at(PlanError, message, term.ordered, "add it to the select list")
        keys.append(_sort_key(name, term))
    return replace(relation, order=tuple(keys)) if keys else relation


def _with_sort_columns(
    relation: PlannedRelation, names: tuple[str, ...], items: list[tuple[str, Scalar]]
) -> Plan:
    if len(items) == len(names):
        return relation.close(names)
    kept = [(name, column(name, relation.plan.schema[name])) for name in relation.carried]
    return Project(relation.plan, (*kept, *items))


def _key(
    term: Term,
    items: list[tuple[str, Scalar]],
    context: Context,
    scalar: Callable[[exp.Expr], Scalar],
) -> SortKey:
    """Sort by an output if it has the value, else by a column that is dropped later."""
    name = _output_of(term, items)
    if name is None:
        name = _unused("sort", (known for known, _ in items), context)
        items.append((name, scalar(term.node.unnest())))
    return _sort_key(name, term)


def _output_of(term: Term, items: list[tuple[str, Scalar]]) -> str | None:
    node = term.node.unnest()
    return next((name for name, known in items if known.node.unnest() == node), None)


def _sort_key(name: str, term: Term) -> SortKey:
    descending = bool(term.ordered.args.get("desc"))
    return SortKey(name, descending, bool(term.ordered.args.get("nulls_first")))
