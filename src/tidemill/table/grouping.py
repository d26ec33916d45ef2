"""Groups of rows, and what is computed of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from sqlglot import exp

from tidemill.errors import TidemillError
from tidemill.table.expressions import Expr
from tidemill.table.trees import Column, columns_of, tree_of

if TYPE_CHECKING:
    from tidemill.table.table import TableExpr

__all__ = ["Grouped", "cube", "grouping_sets", "named", "rollup"]

T = TypeVar("T", bound="TableExpr")


@dataclass(frozen=True)
class Grouped(Generic[T]):
    """A table in groups; `agg` says what to compute of each."""

    table: T
    keys: Sequence[exp.Expr]

    def agg(self, *columns: Column, **named_columns: Column) -> T:
        """The keys of each group, and aggregates of it."""
        shown = [*_shown(self.keys), *named(columns, named_columns)]
        return self.table.block(shown, [key.unalias() for key in self.keys])


def named(columns: Sequence[Column], named_columns: dict[str, Column]) -> list[exp.Expr]:
    """The trees of columns, the last ones under names."""
    aliased = [Expr(tree_of(column)).alias(name) for name, column in named_columns.items()]
    if not columns and not aliased:
        raise TidemillError("there are no columns", help='write for example "item", n=count()')
    return columns_of([*columns, *aliased])


def _shown(keys: Sequence[exp.Expr]) -> list[exp.Expr]:
    """The keys as columns of the result, each once, whatever the sets that they are in."""
    found: list[exp.Expr] = []
    for key in keys:
        for part in _parts(key):
            if part not in found:
                found.append(part.copy())
    return found


def _parts(key: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(key, exp.Rollup | exp.Cube | exp.GroupingSets | exp.Tuple):
        for part in key.expressions:
            yield from _parts(part)
    else:
        yield key


def rollup(*columns: Column) -> Expr:
    """Groups by all of some columns, by all but the last, and so on: a key of `group_by`."""
    return Expr(exp.Rollup(expressions=columns_of(columns)))


def cube(*columns: Column) -> Expr:
    """Groups by every set of some columns: a key of `group_by`."""
    return Expr(exp.Cube(expressions=columns_of(columns)))


def grouping_sets(*sets: Sequence[Column]) -> Expr:
    """Groups by each of some sets of columns: a key of `group_by`."""
    tuples = [exp.Tuple(expressions=columns_of(columns)) for columns in sets]
    return Expr(exp.GroupingSets(expressions=tuples))
