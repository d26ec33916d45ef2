"""Random groupings: keys, and calls of every aggregate."""

from __future__ import annotations

from collections.abc import Sequence

from tests.random.expressions import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INT,
    STRING,
    Atom,
)
from tests.random.from_clause import FromWriter

_NUMBERS = (INT, BIGINT, DOUBLE)


class GroupWriter(FromWriter):
    """Writes GROUP BY and aggregates."""

    def keys(self, atoms: Sequence[Atom]) -> list[Atom]:
        """Up to two keys; a key that is a plain column can be mentioned in subqueries."""
        keys: dict[str, Atom] = {}
        for _ in range(self._random.randint(0, 2)):
            key = self._key(self.pick(atoms))
            keys[key.text] = key
        return list(keys.values())

    def _key(self, atom: Atom) -> Atom:
        if self.chance(0.7) or atom.type == BOOLEAN:
            return atom
        text = {
            INT: f"({atom.text} % 2)",
            BIGINT: f"COALESCE({atom.text}, 0)",
            DOUBLE: f"({atom.text} > 1)",
            STRING: f"UPPER({atom.text})",
        }[atom.type]
        return Atom(text, BOOLEAN if atom.type == DOUBLE else atom.type)

    def calls(self, atoms: Sequence[Atom]) -> list[Atom]:
        """Some aggregates over the rows of a group."""
        return [self._call(atoms) for _ in range(self._random.randint(1, 3))]

    def _call(self, atoms: Sequence[Atom]) -> Atom:
        if self.chance(0.2):
            return Atom(f"COUNT(*){self._filter(atoms)}", BIGINT)
        kind = self.pick([atom.type for atom in atoms])
        with self.without_subqueries():
            argument = self.value(kind, atoms, self.pick([0, 0, 1]))
        function, result = self.pick(_functions(kind))
        distinct = "DISTINCT " if self.chance(0.25) else ""
        return Atom(f"{function}({distinct}{argument}){self._filter(atoms)}", result)

    def inexact_call(self, atoms: Sequence[Atom]) -> str:
        """An aggregate that two systems may round differently, of numbers that are finite."""
        function = self.pick(["VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP", "STDDEV"])
        with self.without_subqueries():
            number = self.value(INT, atoms, 1)
        halves = f"({number} / 2)" if self.chance(0.5) else number
        return f"{function}({halves}){self._filter(atoms)}"

    def _filter(self, atoms: Sequence[Atom]) -> str:
        if not self.chance(0.15):
            return ""
        with self.without_subqueries():
            return f" FILTER (WHERE {self.condition(atoms, 1)})"

    def with_call(
        self, items: list[tuple[str, str]], atoms: Sequence[Atom]
    ) -> list[tuple[str, str]]:
        """The items, surely with an aggregate: without keys nothing else makes a group."""
        if any(atom.text in text for text, _ in items for atom in atoms):
            return items
        text, kind = items[0]
        known = [atom.text for atom in atoms if atom.type == kind]
        call = known[0] if known else f"MAX({self.literal(kind)})"
        return [(f"COALESCE({text}, {call})", kind), *items[1:]]

    def group_by(
        self, keys: Sequence[Atom], items: list[tuple[str, str]], names: Sequence[str]
    ) -> str:
        """The clause, with a key now and then by the number or name of its output."""
        if not keys:
            return ""
        texts = [key.text for key in keys]
        number = next((n for n, item in enumerate(items) if item[1] == keys[0].type), None)
        if number is not None and self.chance(0.4):
            items[number] = (keys[0].text, keys[0].type)
            texts[0] = self.pick([str(number + 1), names[number], texts[0]])
        return f" GROUP BY {', '.join(texts)}"


def _functions(kind: str) -> list[tuple[str, str]]:
    """The exact aggregates of a type, and the types of their answers."""
    functions = [("COUNT", BIGINT), ("MIN", kind), ("MAX", kind)]
    if kind in _NUMBERS:
        functions += [("SUM", DOUBLE if kind == DOUBLE else BIGINT), ("AVG", DOUBLE)]
    if kind == STRING:
        functions += [("LONGEST", STRING)]
    return functions
