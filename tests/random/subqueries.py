"""Random subqueries in conditions and values, correlated and not."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from tests.random.expressions import BIGINT, INT, STRING, TYPES, Atom
from tests.random.from_clause import Written
from tests.random.grouping import GroupWriter

_MOST_BLOCKS = 6


@dataclass(frozen=True)
class Shape:
    """What a block may have: which types, and what its place allows."""

    types: tuple[str, ...]
    outer: tuple[Atom, ...] = ()
    aggregated: bool = False  # all rows into one
    final: bool = False  # nothing is computed from the result: it may be inexact
    limited: bool = False
    free: bool = False  # any other types would do


class SubqueryWriter(GroupWriter):
    """Writes EXISTS, IN, ANY, ALL and subqueries that stand for a value."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self._blocks = 0

    @abstractmethod
    def select(self, depth: int, shape: Shape) -> Written:
        """One block."""

    def some_types(self) -> tuple[str, ...]:
        """Types for the columns of a query; of keys and texts there are few, so rows meet."""
        if self.calm:
            return tuple(self.pick([INT, INT, STRING, BIGINT]) for _ in range(self.pick([1, 1, 2])))
        return tuple(self.pick(TYPES) for _ in range(self._random.randint(1, 3)))

    def count_block(self, depth: int) -> int:
        """How deep one more block may go: not at all once there are many."""
        self._blocks += 1
        return depth if self._blocks < _MOST_BLOCKS else 0

    @contextmanager
    def subqueries(self, depth: int) -> Iterator[None]:
        """Let expressions contain subqueries of a depth, if any."""
        before = self.subquery_condition, self.subquery_value
        self.subquery_condition = self.subquery_value = None
        if depth > 0 and self._blocks < _MOST_BLOCKS:
            self.subquery_condition = lambda atoms: self._condition_with(atoms, depth)
            self.subquery_value = lambda atoms: self._value_of(atoms, depth)
        try:
            yield
        finally:
            self.subquery_condition, self.subquery_value = before

    def _condition_with(self, atoms: Sequence[Atom], depth: int) -> str:
        outer = self._visible_inside(atoms)
        kind = self.pick(["EXISTS", "IN", "IN", "ANY", "ALL", "value", "value"])
        if kind == "EXISTS":
            word = self.pick(["EXISTS", "NOT EXISTS"])
            return f"{word} ({self.query(depth - 1, self.some_types(), outer).sql})"
        if kind == "value":
            operator = self.pick(["=", "<", ">="])
            return f"{self._plain(BIGINT, atoms)} {operator} {self._value_of(atoms, depth)}"
        types = self.some_types()[: self.pick([1, 1, 2]) if kind == "IN" else 1]
        inner = self.query(depth - 1, types, outer).sql
        sides = [self._plain(each, atoms) for each in types]
        side = sides[0] if len(sides) == 1 else f"({', '.join(sides)})"
        if kind == "IN":
            return f"{side} {self.pick(['IN', 'NOT IN'])} ({inner})"
        return f"{side} {self.pick(['=', '<>', '<', '>='])} {kind} ({inner})"

    def _value_of(self, atoms: Sequence[Atom], depth: int) -> str:
        """A subquery with one BIGINT: an aggregate, or the first row."""
        outer = self._visible_inside(atoms)
        if not outer and self.chance(0.3):
            inner = self.select(depth - 1, Shape((BIGINT,)))
            return f"({inner.sql} ORDER BY 1 {self.pick(['ASC', 'DESC'])} LIMIT 1)"
        return f"({self.select(depth - 1, Shape((BIGINT,), tuple(outer), aggregated=True)).sql})"

    def _visible_inside(self, atoms: Sequence[Atom]) -> list[Atom]:
        seen = [Atom(a.outer, a.type, a.outer) for a in atoms if a.outer is not None]
        return seen if self.chance(0.65) else []

    def _plain(self, wanted: str, atoms: Sequence[Atom]) -> str:
        with self.without_subqueries():
            return self.value(wanted, atoms, self.pick([0, 0, 1]))
