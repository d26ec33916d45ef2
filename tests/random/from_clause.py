"""Random FROM clauses: streams, relations, subqueries and stream functions, joined in all ways."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

from tests.random.data import TIME
from tests.random.expressions import (
    BIGINT,
    DOUBLE,
    INT,
    STRING,
    Atom,
    ExpressionWriter,
)
from tests.random.plans import RELATION, SOURCES
from tests.random.windows import Window, WindowWriter

Columns = tuple[tuple[str, str], ...]
"""Names and types."""

SOURCE_COLUMNS: Columns = (("k", INT), ("v", BIGINT), ("f", DOUBLE), ("s", STRING))


@dataclass(frozen=True)
class Written:
    """A query or a source: its text, its columns, and whether its rows may hold for ever."""

    sql: str
    columns: Columns
    stays: bool = False


@dataclass
class From:
    """A FROM clause in the making.

    `reachable` are the aliases that an ON may mention: those behind the last comma.
    """

    sql: str = ""
    atoms: list[Atom] = field(default_factory=list)
    stays: bool = False
    aliases: dict[str, Columns] = field(default_factory=dict)
    reachable: list[str] = field(default_factory=list)
    merged: dict[str, str] = field(default_factory=dict)
    has_comma: bool = False


class FromWriter(ExpressionWriter):
    """Writes FROM clauses."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.windows = WindowWriter(random, self.calm)
        self.derived: list[Written] = []
        # The time column is no part of `*`, so a script has either the one or the other.
        self.names_time = random.random() < 0.15
        self._numbers: dict[str, int] = {}

    @abstractmethod
    def query(self, depth: int, types: Sequence[str] = (), outer: Sequence[Atom] = ()) -> Written:
        """A query with columns of these types (none: any)."""

    def fresh(self, letter: str) -> str:
        """A name that is not in use yet."""
        self._numbers[letter] = self._numbers.get(letter, 0) + 1
        return f"{letter}{self._numbers[letter]}"

    @contextmanager
    def without_subqueries(self) -> Iterator[None]:
        """Write expressions where a subquery cannot stand."""
        before = self.subquery_condition, self.subquery_value
        self.subquery_condition = self.subquery_value = None
        try:
            yield
        finally:
            self.subquery_condition, self.subquery_value = before

    def from_clause(self, depth: int, outer: Sequence[Atom]) -> From:
        """The entries of FROM, at most three."""
        count = self.pick([1, 1, 1, 2] if self.calm else [1, 1, 1, 2, 2, 3])
        inner = self.chance(0.5)
        # Beside an outer join, a subquery cannot mention the query around.
        seen = outer if inner and self.chance(0.3) else ()
        clause = From()
        self._add(clause, depth, seen, "")
        for _ in range(count - 1):
            self._join(clause, depth, outer, seen, inner)
        clause.atoms = self._atoms(clause)
        return clause

    def _add(self, clause: From, depth: int, outer: Sequence[Atom], join: str) -> str:
        alias = self._alias(clause, outer)
        text, entry = self._entry(alias, depth, outer)
        clause.sql += f"{join}{text}"
        clause.stays = clause.stays or entry.stays
        clause.aliases[alias] = entry.columns
        return alias

    def _alias(self, clause: From, outer: Sequence[Atom]) -> str:
        """A new alias, or one that hides an entry of the query around."""
        taken = {atom.text.split(".")[0] for atom in outer} - set(clause.aliases)
        return self.pick(sorted(taken)) if taken and self.chance(0.15) else self.fresh("t")

    # Entries

    def _entry(self, alias: str, depth: int, outer: Sequence[Atom]) -> tuple[str, Written]:
        roll = self._random.uniform(0, 0.7 if self.calm else 1)
        if roll < 0.08:
            return f"{RELATION} AS {alias}", Written(RELATION, SOURCE_COLUMNS, True)
        if self.derived and roll < 0.5:
            return self._windowed(self.pick(self.derived), alias, 0.4)
        if depth > 0 and roll > 0.75:
            return self._subquery(alias, depth - 1, outer)
        source = Written(self.pick(SOURCES), self._source_columns())
        if roll > 0.68:
            return self._function(source, alias)
        return self._windowed(source, alias, 1)

    def _source_columns(self) -> Columns:
        return (*SOURCE_COLUMNS, (TIME, BIGINT)) if self.names_time else SOURCE_COLUMNS

    def _windowed(self, entry: Written, alias: str, often: float) -> tuple[str, Written]:
        """An entry under a window, if one may be put on it; the alias before or behind."""
        window = Window("", entry.stays)
        # Rows that hold for ever would be split without end.
        if not entry.stays and self.chance(often):
            window = self.windows.window([name for name, _ in entry.columns])
        name = f"{self.pick(['AS ', ''])}{alias}"
        parts = (
            [entry.sql, window.text, name] if self.chance(0.5) else [entry.sql, name, window.text]
        )
        return " ".join(filter(None, parts)), Written(entry.sql, entry.columns, window.stays)

    def _subquery(self, alias: str, depth: int, outer: Sequence[Atom]) -> tuple[str, Written]:
        query = self.query(depth, outer=outer)
        entry = Written(f"({query.sql})", query.columns, query.stays)
        return self._windowed(entry, alias, 0 if outer else 0.25)

    def _function(self, source: Written, alias: str) -> tuple[str, Written]:
        """A stream function around a source, perhaps with a window of its own behind it."""
        window = self.windows.window([name for name, _ in source.columns])
        kind = "ISTREAM" if window.stays else self.pick(["ISTREAM", "DSTREAM", "RSTREAM"])
        text = f"{kind}({source.sql} {window.text})"
        return self._windowed(Written(text, source.columns), alias, 0.6)

    # Joins

    def _join(
        self,
        clause: From,
        depth: int,
        outer: Sequence[Atom],
        seen: Sequence[Atom],
        inner: bool,
    ) -> None:
        if self.chance(0.25):
            clause.has_comma = True
            clause.reachable = []
            clause.reachable.append(self._add(clause, depth, seen, ", "))
            return
        clause.reachable = clause.reachable or list(clause.aliases)
        if self.chance(0.1):
            clause.reachable.append(self._add(clause, depth, seen, " CROSS JOIN "))
            return
        kind = "" if inner else self.pick(["", "LEFT ", "RIGHT ", "FULL ", "FULL OUTER "])
        if clause.has_comma and kind[:1] in ("R", "F"):
            kind = "LEFT "
        left = self._reachable_atoms(clause)
        alias = self._add(clause, depth, seen, f" {kind}JOIN ")
        clause.sql += self._condition(clause, left, alias, outer if not kind else ())
        clause.reachable.append(alias)

    def _condition(self, clause: From, left: list[Atom], alias: str, outer: Sequence[Atom]) -> str:
        shared = self._shared(clause, alias)
        if shared and self.chance(0.25):
            names = self._random.sample(shared, self.pick([1, 1, min(2, len(shared))]))
            clause.merged.update({name: dict(clause.aliases[alias])[name] for name in names})
            return f" USING ({', '.join(names)})"
        right = _atoms_of(alias, clause.aliases[alias])
        pairs = [(a.text, b.text) for a in left for b in right if a.type == b.type]
        # Keys and texts are few, so that rows find partners.
        likely = [pair for pair in pairs if pair[0].endswith((".k", ".s"))]
        pairs = likely if likely and self.chance(0.6) else pairs
        wanted = min(self.pick([1, 1, 1, 2]), len(pairs))
        tests = [f"{a} {self._equal()} {b}" for a, b in self._random.sample(pairs, wanted)]
        if not tests or self.chance(0.25):
            with self.without_subqueries():
                mentioned = [*left, *right, *(outer if self.chance(0.2) else ())]
                tests.append(self.condition(mentioned, 1))
        return f" ON {' AND '.join(tests)}"

    def _equal(self) -> str:
        return self.pick(["=", "=", "=", "=", "<=>", ">="])

    def _shared(self, clause: From, alias: str) -> list[str]:
        """The columns that USING may name: known once on the left, with the same type."""
        left = [columns for name, columns in clause.aliases.items() if name != alias]
        found = []
        for name, kind in clause.aliases[alias]:
            types = [dict(columns)[name] for columns in left if name in dict(columns)]
            known = len(types) == 1 and name not in clause.merged
            if types and set(types) == {kind} and (known or name in clause.merged):
                found.append(name)
        return found

    def _reachable_atoms(self, clause: From) -> list[Atom]:
        return [a for name in clause.reachable for a in _atoms_of(name, clause.aliases[name])]

    def _atoms(self, clause: From) -> list[Atom]:
        """All columns; those of a single entry perhaps without its alias."""
        bare = len(clause.aliases) == 1 and self.chance(0.3)
        atoms = [a for name, columns in clause.aliases.items() for a in _atoms_of(name, columns)]
        if bare:
            atoms = [Atom(atom.text.split(".")[1], atom.type, atom.outer) for atom in atoms]
        return atoms + [Atom(name, kind) for name, kind in clause.merged.items()]


def _atoms_of(alias: str, columns: Columns) -> list[Atom]:
    return [Atom(f"{alias}.{name}", kind, f"{alias}.{name}") for name, kind in columns]
