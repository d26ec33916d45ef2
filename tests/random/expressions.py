"""Random SQL expressions: typed by construction, full of NULLs and three-valued logic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

INT, BIGINT, DOUBLE, STRING, BOOLEAN = "INT", "BIGINT", "DOUBLE", "STRING", "BOOLEAN"
TYPES = (INT, BIGINT, DOUBLE, STRING)
"""The types of the columns of the sources, and of most outputs."""

_NUMBERS = (INT, BIGINT, DOUBLE)
_PATTERNS = ("'a%'", "'%b%'", "'_'")
_COMPARISONS = ("=", "<>", "<>", "<", "<=", ">", ">=", ">=", "<=>")
"""Weighted towards those that most rows pass: an empty result says little."""

T = TypeVar("T")


@dataclass(frozen=True)
class Atom:
    """Something that an expression can start from: a column, a key or an aggregate.

    `outer` is its name inside a subquery; None if it cannot be mentioned there.
    """

    text: str
    type: str
    outer: str | None = None


Subquery = Callable[[Sequence[Atom]], str]
"""Writes a condition, or a value, with a subquery that may mention the atoms."""


class ExpressionWriter:
    """Writes expressions over atoms.

    Arithmetic stays far from overflow, and divides by powers of two only: DuckDB's sums of
    doubles are then exact, like ours.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        # Half of all scripts are calm: wide windows and plain columns, so that many rows come to
        # where a join or a subquery decides about them.
        self.calm = random.random() < 0.5
        self.subquery_condition: Subquery | None = None
        self.subquery_value: Subquery | None = None

    def pick(self, choices: Sequence[T]) -> T:
        """One of the choices."""
        return self._random.choice(choices)

    def chance(self, probability: float) -> bool:
        """True that often."""
        return self._random.random() < probability

    # Values

    def value(self, wanted: str, atoms: Sequence[Atom], depth: int = 2) -> str:
        """An expression of a type."""
        known = [atom.text for atom in atoms if atom.type == wanted]
        if known and (depth == 0 or self.chance(0.9 if self.calm else 0.65)):
            return self.pick(known)
        if depth == 0 or self.chance(0.1):
            return self.literal(wanted)
        if wanted == BOOLEAN:
            return f"({self.condition(atoms, depth - 1)})"
        if self.chance(0.3):
            return self._choice(wanted, atoms, depth - 1)
        return self._by_type(wanted, atoms, depth - 1)

    def literal(self, wanted: str) -> str:
        """A constant of a type; now and then NULL."""
        if self.chance(0.08):
            return f"CAST(NULL AS {wanted})"
        if wanted == STRING:
            return self.pick(["'a'", "'b'", "'ä'", "''"])
        if wanted == BOOLEAN:
            return self.pick(["TRUE", "FALSE"])
        if wanted == DOUBLE:
            return f"CAST({self.pick(['0.5', '1.5', '3', '-0.25'])} AS DOUBLE)"
        number = self.pick(["(-1)", "0", "1", "1", "2", "3"])
        return number if wanted == INT else f"CAST({number} AS BIGINT)"

    def _choice(self, wanted: str, atoms: Sequence[Atom], depth: int) -> str:
        one, other = self.value(wanted, atoms, depth), self.value(wanted, atoms, depth)
        test = self.condition(atoms, depth)
        forms = [
            f"CASE WHEN {test} THEN {one} ELSE {other} END",
            f"CASE WHEN {test} THEN {one} END",
            f"CASE {one} WHEN {other} THEN {other} ELSE {one} END",
            f"IF({test}, {one}, {other})",
            f"COALESCE({one}, {other})",
            f"NULLIF({one}, {other})",
            f"GREATEST({one}, {other})",
            f"LEAST({one}, {other})",
        ]
        return self.pick(forms)

    def _by_type(self, wanted: str, atoms: Sequence[Atom], depth: int) -> str:
        part = self.value(wanted, atoms, depth)
        if wanted == STRING:
            forms = [f"UPPER({part})", f"CONCAT({part}, 'x')", f"SUBSTRING({part}, 1, 1)"]
            forms.append(f"CAST({self.value(INT, atoms, depth)} AS STRING)")
            return self.pick(forms)
        forms = [
            f"({part} + {self.literal(wanted)})",
            f"({part} * 2)",
            f"ABS({part})",
            f"(- {part})",
        ]
        if wanted == INT:
            forms += [f"LENGTH({self.value(STRING, atoms, depth)})", f"({part} % 2)"]
        elif wanted == BIGINT:
            whole = self.value(INT, atoms, depth)
            forms += [f"CAST({whole} AS BIGINT)", f"bump({part})", f"bump({whole})"]
        else:
            number = self.value(self.pick(_NUMBERS), atoms, depth)
            forms += [f"({number} / 2)", f"CAST({number} AS DOUBLE)"]
        return self.pick(forms)

    # Conditions

    def condition(self, atoms: Sequence[Atom], depth: int = 2) -> str:
        """A condition: true, false or NULL."""
        if depth > 0 and self.chance(0.35):
            return self._combined(atoms, depth - 1)
        if self.subquery_condition is not None and self.chance(0.8 if self.calm else 0.45):
            return self.subquery_condition(atoms)
        return self._test(atoms, depth)

    def _combined(self, atoms: Sequence[Atom], depth: int) -> str:
        if self.chance(0.25):
            return f"NOT ({self.condition(atoms, depth)})"
        word = self.pick(["AND", "OR", "OR"])
        return f"({self.condition(atoms, depth)} {word} {self.condition(atoms, depth)})"

    def _test(self, atoms: Sequence[Atom], depth: int) -> str:
        kind = self.pick([atom.type for atom in atoms] or [INT])
        one = self.operand(kind, atoms, depth - 1)
        roll = self._random.random()
        if roll < 0.1:
            return f"{one} IS {self.pick(['', 'NOT '])}NULL"
        if roll < 0.2 and kind != BOOLEAN:
            return f"{one} {self.pick(['', 'NOT '])}IN ({self._list(kind)})"
        if roll < 0.28 and kind != BOOLEAN:
            return f"{one} BETWEEN {self.literal(kind)} AND {self.operand(kind, atoms, 0)}"
        if roll < 0.35 and kind == STRING:
            return f"{one} LIKE {self.pick(_PATTERNS)}"
        if roll < 0.38 or kind == BOOLEAN:
            return self.operand(BOOLEAN, atoms, 0)
        other = self.operand(self._like(kind), atoms, depth - 1)
        if self.chance(0.4):
            other = self.literal(kind)
        return f"{one} {self.pick(_COMPARISONS)} {other}"

    def operand(self, kind: str, atoms: Sequence[Atom], depth: int) -> str:
        """One side of a comparison: often an atom, sometimes a subquery with one value."""
        if self.subquery_value is not None and kind == BIGINT and self.chance(0.15):
            return self.subquery_value(atoms)
        return self.value(kind, atoms, max(depth, 0) if self.chance(0.4) else 0)

    def _list(self, kind: str) -> str:
        return ", ".join(self.literal(kind) for _ in range(self._random.randint(1, 3)))

    def _like(self, kind: str) -> str:
        """A type that compares with this one: numbers compare with each other."""
        return self.pick(_NUMBERS) if kind in _NUMBERS and self.chance(0.2) else kind
