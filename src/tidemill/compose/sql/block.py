"""One SELECT in the making: what stands in its clauses, and what columns of a plan are in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import AggregateCall
from tidemill.algebra.scalar import Scalar
from tidemill.analyze.relation import unique_names
from tidemill.analyze.trees import outside_subqueries, rewrite
from tidemill.compose.sql.calls import spoken_call
from tidemill.compose.texts import identifier, short
from tidemill.errors import UnsupportedError
from tidemill.sql import Approximate, Shed, StreamFunction

_SIMPLE: Final = (exp.Column, exp.Literal, exp.Boolean, exp.Null, exp.Cast, exp.Anonymous, exp.Func)
_AGGREGATE: Final = "aggregate"


class CannotSay(UnsupportedError):
    """A plan has no counterpart in the language."""


@dataclass
class FromEntry:
    """An entry of FROM, and how it joins with those before it."""

    node: exp.Expr
    alias: str
    kind: str = "INNER"
    on: list[exp.Expr] = field(default_factory=list)
    inner: exp.Expr | None = None  # the query that it consists of
    names: tuple[str, ...] = ()  # the columns of that


@dataclass
class Block:
    """A query block. `columns` are expressions in it, by the names of the plan, in their order.

    A block `is_bare` while it gives all of its one entry, and `is_rows` while it looks at rows of
    that entry one by one.
    """

    entries: list[FromEntry]
    columns: dict[str, exp.Expr]
    where: list[exp.Expr] = field(default_factory=list)
    equal: list[exp.Expr] = field(default_factory=list)
    group: list[exp.Expr] | None = None
    having: list[exp.Expr] = field(default_factory=list)
    distinct: bool = False
    order: list[tuple[exp.Expr, exp.Ordered]] = field(default_factory=list)
    limit: int | None = None
    offset: int = 0
    approximate: Approximate | None = None
    shed: Shed | None = None
    is_bare: bool = True
    is_rows: bool = True

    @property
    def is_open(self) -> bool:
        """Whether conditions and other entries can be added to its rows."""
        return self.group is None and not self.is_closed and self.shed is None

    @property
    def is_closed(self) -> bool:
        """Whether its select list is final."""
        return self.distinct or self.limit is not None

    @property
    def entry(self) -> FromEntry | None:
        """The only entry of FROM, if there is only one."""
        return self.entries[0] if len(self.entries) == 1 else None

    def said(self, scalar: Scalar) -> exp.Expr:
        """An expression of the plan in terms of the block."""
        return substituted(scalar, self.columns)

    def select(self, outputs: Sequence[tuple[str, str]], qualified: bool = False) -> exp.Expr:
        """The query with these columns of the plan, under these names.

        Columns of its only entry are named without alias, unless they are to be `qualified`.
        """
        self._place_conditions()
        listed = [_named(self.columns[column].copy(), name) for column, name in outputs]
        select = exp.Select(expressions=listed)
        select.set("from_", exp.From(this=self.entries[0].node))
        select.set("joins", [_join(entry) for entry in self.entries[1:]])
        self._set_conditions(select, listed)
        if self.distinct:
            select.set("distinct", exp.Distinct())
        if (entry := self.entry) is not None and not qualified:
            _unqualify(select, entry.alias)
        self._set_limit(select, outputs)
        return select

    def _inner(self, outputs: Sequence[tuple[str, str]]) -> exp.Expr | None:
        """The query of the only entry, if the block adds nothing to it."""
        entry = self.entry
        changes = (self.where, self.equal, self.having, self.group is not None, self.is_closed)
        if entry is None or entry.inner is None or any(changes) or self.shed is not None:
            return None
        node = entry.node
        if node.args.get("stream_window") or node.args.get("granularity"):
            return None
        shown = tuple((self.columns[column], name) for column, name in outputs)
        plain = all(isinstance(e, exp.Column) and e.name == name for e, name in shown)
        same = plain and tuple(name for _, name in shown) == entry.names
        return entry.inner if same else None

    def _place_conditions(self) -> None:
        """Conditions of joins go to the first entry where all of their columns are known."""
        places = {entry.alias: number for number, entry in enumerate(self.entries)}
        for condition in self.equal:
            last = max((places.get(c.table, 0) for c in condition.find_all(exp.Column)), default=0)
            entry = self.entries[last]
            (entry.on if last and entry.kind == "INNER" else self.where).append(condition)
        self.equal = []

    def _set_conditions(self, select: exp.Select, listed: list[exp.Expr]) -> None:
        if self.where:
            select.set("where", exp.Where(this=exp.and_(*self.where)))
        if self.group:
            select.set("group", exp.Group(expressions=[_key(node) for node in self.group]))
        having = list(self.having)
        if self.group == [] and not any(map(_has_aggregate, [*listed, *having])):
            # Without an aggregate, nothing would tell that there is one group.
            having.append(exp.GT(this=_count(), expression=exp.Literal.number(0)))
        if having:
            select.set("having", exp.Having(this=exp.and_(*having)))

    def _set_limit(self, select: exp.Select, outputs: Sequence[tuple[str, str]]) -> None:
        if self.limit is None:
            return
        names = {self.columns[column]: name for column, name in reversed(outputs)}
        terms = []
        for node, term in self.order:
            term = term.copy()
            known = names.get(node)
            term.set("this", exp.column(identifier(known)) if known else node.copy())
            terms.append(term)
        if terms:
            select.set("order", exp.Order(expressions=terms))
        select.set("limit", exp.Limit(expression=exp.Literal.number(self.limit)))
        if self.offset:
            select.set("offset", exp.Offset(expression=exp.Literal.number(self.offset)))
        if self.approximate is not None:
            select.set("approximate", self.approximate)

    def finished(self, outputs: Sequence[tuple[str, str]]) -> exp.Expr:
        """The query with its last clause; that of its only entry, if it adds nothing to it."""
        if (inner := self._inner(outputs)) is not None:
            return inner
        query = self.select(outputs)
        if self.shed is not None:
            query.set("shed", self.shed)
        return query


def output_names(columns: Iterable[str]) -> tuple[str, ...]:
    """Names for columns of a plan in a result without names of its own.

    >>> output_names(["b.item", "a.item", "outer1"])
    ('item', 'item_2', 'around1')
    """
    # The planner has columns `outer1`, ... of its own in subqueries.
    return unique_names([re.sub(r"^outer(?=\d+$)", "around", short(name)) for name in columns])


def substituted(scalar: Scalar, columns: dict[str, exp.Expr]) -> exp.Expr:
    """An expression of a plan with other expressions in the place of its columns."""

    def change(node: exp.Expr) -> exp.Expr | None:
        if isinstance(node, exp.Anonymous) and node.name.startswith("#"):
            raise CannotSay(
                "SQL cannot express what OBJECTS(...) and ranges of values make of a column",
                help="keep the query that it came from",
            )
        if not isinstance(node, exp.Column):
            return None
        if node.name not in columns:
            raise CannotSay(
                f"SQL cannot name the column `{node.name}`", help="leave it out of the plan"
            )
        found = columns[node.name].copy()
        bare = node is scalar.node or isinstance(found, _SIMPLE)
        return found if bare else exp.Paren(this=found)

    return rewrite(scalar.node, change)


def aggregate_call(call: AggregateCall, argument: exp.Expr | None) -> exp.Expr:
    """A call of an aggregate, marked as one."""
    node = spoken_call(call, argument)
    node.meta[_AGGREGATE] = True
    return node


def _count() -> exp.Expr:
    return aggregate_call(AggregateCall("n", "COUNT", None, pa.int64()), None)


def _has_aggregate(node: exp.Expr) -> bool:
    return any(part.meta.get(_AGGREGATE) for part in outside_subqueries(node))


def _named(node: exp.Expr, name: str) -> exp.Expr:
    if isinstance(node, exp.Column) and node.name == name:
        return node
    return exp.Alias(this=node, alias=identifier(name))


def _key(node: exp.Expr) -> exp.Expr:
    # A number would mean a column of the select list.
    return exp.Paren(this=node.copy()) if isinstance(node, exp.Literal) else node.copy()


def _join(entry: FromEntry) -> exp.Join:
    on = exp.and_(*entry.on) if entry.on else None
    if entry.kind == "INNER":
        return exp.Join(this=entry.node, on=on, **({} if on is not None else {"kind": "CROSS"}))
    return exp.Join(this=entry.node, side=entry.kind, on=on)


def _unqualify(select: exp.Select, alias: str) -> None:
    """Name columns without their alias where there is one entry only."""
    for clause in ("expressions", "where", "group", "having"):
        value = select.args.get(clause)
        for node in value if isinstance(value, list) else [value] if value else []:
            for part in list(outside_subqueries(node)):
                if isinstance(part, exp.Column) and part.table == alias:
                    part.set("table", None)


def stream_call(kind: str, query: exp.Expr) -> StreamFunction:
    """ISTREAM, DSTREAM or RSTREAM around a query or a name."""
    return StreamFunction(kind=kind, this=query)


def unnest_call(values: exp.Expr, alias: str, names: tuple[str, ...]) -> exp.Unnest:
    """UNNEST(list) AS alias(element), or with the place of the element."""
    columns = [identifier(names[0])]
    given = exp.TableAlias(this=identifier(alias), columns=columns)
    offset = identifier(names[1]) if len(names) > 1 else False
    return exp.Unnest(expressions=[values], alias=given, offset=offset)


def column_of(alias: str, name: str) -> exp.Column:
    """A column of an entry of FROM."""
    return exp.column(identifier(name), table=identifier(alias))
