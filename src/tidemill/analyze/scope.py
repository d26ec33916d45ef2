"""Names: which plan column does a user's column mean?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import Plan, Schema
from tidemill.analyze.trees import placed
from tidemill.errors import PlanError, nearest
from tidemill.sql import error_at


@dataclass(frozen=True)
class Item:
    """One entry of FROM.

    Its plan has the columns `prefix.name`; the prefix is the alias, unless a subquery reuses an
    alias of the query around it. `hidden` columns can be named, but `*` leaves them out.
    """

    alias: str
    prefix: str
    plan: Plan
    columns: Schema
    node: exp.Expr
    hidden: frozenset[str] = frozenset()
    word: str = "stream"
    is_windowed: bool = False
    carried: tuple[tuple[str, str], ...] = ()  # columns of the query around, and their names here
    source: str | None = None  # what comes from outside; None if a query defines it

    def plan_column(self, name: str) -> str:
        """The column's name in the plan."""
        return f"{self.prefix}.{name}"

    def match(self, name: str) -> str | None:
        """The column as it was declared, whatever the case of the name."""
        wanted = name.casefold()
        return next((each for each in self.columns.names if each.casefold() == wanted), None)

    @property
    def visible(self) -> tuple[str, ...]:
        """The columns that `*` stands for."""
        return tuple(name for name in self.columns.names if name not in self.hidden)


class Outer(Protocol):
    """The scope around a subquery."""

    def find(self, column: exp.Column) -> exp.Expr | None:
        """The expression over plan columns that a name means, if it means anything."""


@dataclass(frozen=True)
class Merged:
    """A column of USING: one name for several plan columns."""

    name: str
    node: exp.Expr
    members: frozenset[str]


@dataclass
class Scope:
    """The names of one FROM clause, and those around it.

    `merged` holds the columns of USING, by their name in lower case.
    """

    items: Sequence[Item]
    outer: Outer | None = None
    merged: dict[str, Merged] = field(default_factory=dict)

    def resolve(self, column: exp.Column) -> exp.Expr:
        """The expression over plan columns that a name means."""
        found = self.find(column)
        if found is None:
            raise self._unknown(column)
        return found

    def find(self, column: exp.Column) -> exp.Expr | None:
        """Like `resolve`, without complaining about an unknown name."""
        parts = [part for part in column.parts if isinstance(part, exp.Identifier)]
        found = self._find_own(column, [part.name for part in parts])
        if found is None and self.outer is not None:
            return self.outer.find(column)
        return found

    def item(self, alias: str) -> Item | None:
        """The entry of FROM with that alias."""
        wanted = alias.casefold()
        return next((item for item in self.items if item.alias.casefold() == wanted), None)

    def _find_own(self, column: exp.Column, names: list[str]) -> exp.Expr | None:
        if len(names) > 1 and (item := self.item(names[0])) is not None:
            name = item.match(names[1])
            if name is None:
                raise _unknown_in(column, item, names[1])
            return self._fields(placed(item.plan_column(name), column), item, name, names[2:])
        return self._find_unqualified(column, names)

    def _find_unqualified(self, column: exp.Column, names: list[str]) -> exp.Expr | None:
        if (merged := self.merged.get(names[0].casefold())) is not None and len(names) == 1:
            return merged.node.copy()
        matches = [(item, name) for item in self.items if (name := item.match(names[0]))]
        # The time of a stream is not part of its tuples, so a real column comes first.
        matches = [m for m in matches if m[1] not in m[0].hidden] or matches
        if not matches:
            return None
        if len(matches) > 1:
            raise _ambiguous(column, names[0], [item for item, _ in matches])
        item, name = matches[0]
        return self._fields(placed(item.plan_column(name), column), item, name, names[1:])

    def _fields(
        self, node: exp.Expr, item: Item, name: str, fields: Sequence[str]
    ) -> exp.Expr | None:
        """Go from a struct into its fields."""
        data_type = item.columns[name]
        for wanted in fields:
            if not pa.types.is_struct(data_type):
                return None
            inner = next((f for f in data_type if f.name.casefold() == wanted.casefold()), None)
            if inner is None:
                return None
            node = exp.Dot(this=node, expression=exp.to_identifier(inner.name, quoted=True))
            data_type = inner.type
        return node

    def _unknown(self, column: exp.Column) -> PlanError:
        shown = ".".join(part.name for part in column.parts)
        if column.table and self.item(column.table) is None:
            return self._unknown_alias(column, shown)
        if not self.items:
            help = "the query has no FROM: read a stream, as in SELECT ... FROM bid"
            return error_at(PlanError, f"unknown column `{shown}`", column, help)
        if len(self.items) == 1:
            return _unknown_in(column, self.items[0], column.name)
        names = [f"{item.alias}.{name}" for item in self.items for name in item.columns.names]
        near = nearest(shown, names + [name.split(".", 1)[1] for name in names])
        help = _guess(near) + f"columns: {', '.join(names)}"
        return error_at(PlanError, f"unknown column `{shown}`", column, help)

    def _unknown_alias(self, column: exp.Column, shown: str) -> PlanError:
        aliases = [item.alias for item in self.items]
        help = _guess(nearest(column.table, aliases)) + f"FROM has: {', '.join(aliases)}"
        message = f"unknown stream or alias `{column.table}` in `{shown}`"
        return error_at(PlanError, message, column, help)


def _unknown_in(column: exp.Column, item: Item, name: str) -> PlanError:
    names = [each for each in item.columns.names if not each.startswith("#")]
    help = _guess(nearest(name, names)) + f"columns: {', '.join(names)}"
    message = f"unknown column `{name}` in {item.word} `{item.alias}`"
    return error_at(PlanError, message, column, help)


def _ambiguous(column: exp.Column, name: str, items: Sequence[Item]) -> PlanError:
    choices = " or ".join(f"`{item.alias}.{name}`" for item in items)
    return error_at(PlanError, f"column `{name}` is ambiguous", column, f"write {choices}")


def _guess(near: str | None) -> str:
    return f"did you mean `{near}`? " if near else ""
