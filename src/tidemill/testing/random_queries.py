"""Random SQL: scripts that are valid by construction, over the sources of the random plans.

A script that the planner refuses is a fault, of the planner or of this generator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from tidemill.testing.random_expressions import BIGINT, DOUBLE, INT, TYPES, Atom
from tidemill.testing.random_from import From, FromWriter, Written
from tidemill.testing.random_grouping import GroupWriter

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


class QueryGenerator(GroupWriter, FromWriter):
    """Writes scripts from a seeded source of randomness."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self._blocks = 0

    def script(self) -> str:
        """Statements that create derived streams, and a query at the end."""
        statements = []
        while self.chance(0.2) and len(statements) < 2:
            query = self.query(1)
            name = self.fresh("d")
            statements.append(f"CREATE STREAM {name} AS {query.sql}")
            self.derived.append(Written(name, query.columns, query.stays))
        statements.append(self._last())
        return ";\n".join(statements)

    def _last(self) -> str:
        if self.chance(0.08):
            return self._with()
        types = self._types()
        if self.chance(0.2):
            written = self._set_operation(2, Shape(types))
        else:
            final = self.chance(0.5)
            shape = Shape(types, final=final, limited=not final and self.chance(0.2))
            written = self._select(self.pick([1, 2, 2]), shape)
        if not self.chance(0.12):
            return written.sql
        kind = "ISTREAM" if written.stays else self.pick(["ISTREAM", "DSTREAM", "RSTREAM"])
        return f"{kind}({written.sql})"

    def _with(self) -> str:
        query, name = self.query(1), self.fresh("w")
        self.derived.append(Written(name, query.columns, query.stays))
        return f"WITH {name} AS ({query.sql}) {self._select(1, Shape(self._types())).sql}"

    def _types(self) -> tuple[str, ...]:
        return tuple(self.pick(TYPES) for _ in range(self._random.randint(1, 3)))

    def query(self, depth: int, types: Sequence[str] = (), outer: Sequence[Atom] = ()) -> Written:
        """A query; one that may mention the query around it has no LIMIT."""
        shape = Shape(
            tuple(types) or self._types(),
            tuple(outer),
            limited=self.chance(0.15),
            free=not types and not outer,
        )
        if depth > 0 and self.chance(0.15):
            return self._set_operation(depth, shape)
        return self._select(depth, shape)

    # Set operations

    def _set_operation(self, depth: int, shape: Shape) -> Written:
        left = self.query(depth - 1, shape.types, shape.outer)
        right = self.query(depth - 1, [self._narrower(t) for t in shape.types], shape.outer)
        word = self.pick(["UNION", "EXCEPT", "INTERSECT"]) + self.pick([" ALL", " ALL", ""])
        sql = f"{_operand(left)} {word} {_operand(right)}"
        if shape.limited and not shape.outer:
            sql += self._first_rows([name for name, _ in left.columns])
        return Written(sql, left.columns, left.stays or right.stays)

    def _narrower(self, wanted: str) -> str:
        """A type that the other side of a set operation may have beside this one."""
        return INT if wanted in (BIGINT, DOUBLE) and self.chance(0.15) else wanted

    # Blocks

    def _select(self, depth: int, shape: Shape) -> Written:
        self._blocks += 1
        depth = depth if self._blocks < _MOST_BLOCKS else 0
        clause = self.from_clause(depth, shape.outer)
        # What an alias of this block hides cannot be mentioned any more.
        outer = [a for a in shape.outer if a.text.split(".")[0] not in clause.aliases]
        shape = replace(shape, outer=tuple(outer))
        where = self._where(clause, shape, depth)
        if shape.aggregated or self.chance(0.35):
            return self._grouped(clause, where, shape, depth)
        # The time of a stream is no part of `*`.
        if shape.free and not self.names_time and self.chance(0.1):
            return self._star(clause, where)
        with self._subqueries(depth if self.chance(0.3) else 0):
            atoms = [*clause.atoms, *shape.outer]
            items = [(self.value(kind, atoms), kind) for kind in shape.types]
        return self._block(clause, where, items, shape, clause.atoms)

    def _star(self, clause: From, where: str) -> Written:
        alias = self.pick(list(clause.aliases))
        star = "*" if len(clause.aliases) == 1 else f"{alias}.*"
        sql = f"SELECT {star} FROM {clause.sql}{where}"
        return Written(sql, clause.aliases[alias], clause.stays)

    def _where(self, clause: From, shape: Shape, depth: int) -> str:
        tests = []
        if shape.outer and self.chance(0.8):
            tests.append(self._correlation(clause.atoms, shape.outer))
        if self.chance(0.5):
            with self._subqueries(depth):
                tests.append(self.condition([*clause.atoms, *shape.outer]))
        return f" WHERE {' AND '.join(tests)}" if tests else ""

    def _correlation(self, atoms: Sequence[Atom], outer: Sequence[Atom]) -> str:
        pairs = [(a.text, b.text) for a in atoms for b in outer if a.type == b.type]
        if not pairs:
            return f"{self.pick(outer).text} IS NOT NULL"
        one, other = self.pick(pairs)
        return f"{one} {self.pick(['=', '=', '=', '<=>', '<', '<>'])} {other}"

    def _grouped(self, clause: From, where: str, shape: Shape, depth: int) -> Written:
        keys = [] if shape.aggregated else self.keys(clause.atoms)
        atoms = [*keys, *self.calls(clause.atoms)]
        # Under an aggregation to one row, a subquery in SELECT is not supported.
        with self._subqueries(0 if shape.outer or not keys else depth):
            seen = [*atoms, *(shape.outer if self.chance(0.2) else ())]
            items = [(self.value(kind, seen, 1), kind) for kind in shape.types]
        if not keys:
            items = self.with_call(items, atoms)
        having = ""
        if self.chance(0.3):
            with self._subqueries(depth if keys else 0):
                having = f" HAVING {self.condition([*atoms, *shape.outer])}"
        if shape.final and not shape.limited and self.chance(0.4):
            items.append((self.inexact_call(clause.atoms), DOUBLE))
        names = [self.fresh("c") for _ in items]
        group = self.group_by(keys, items, names)
        return self._block(clause, f"{where}{group}{having}", items, shape, atoms, names)

    def _block(
        self,
        clause: From,
        tail: str,
        items: list[tuple[str, str]],
        shape: Shape,
        atoms: Sequence[Atom],
        names: Sequence[str] = (),
    ) -> Written:
        names = names or [self.fresh("c") for _ in items]
        exact = not shape.final or len(items) == len(shape.types)
        distinct = "DISTINCT " if exact and self.chance(0.12) else ""
        listed = ", ".join(
            f"{text} AS {name}" for (text, _), name in zip(items, names, strict=True)
        )
        sql = f"SELECT {distinct}{listed} FROM {clause.sql}{tail}"
        if shape.limited and not shape.outer:
            others = [] if distinct else [atom.text for atom in atoms if not atom.text.isdigit()]
            sql += self._first_rows([*names, *others[:4]])
        columns = tuple((name, kind) for name, (_, kind) in zip(names, items, strict=True))
        return Written(sql, columns, clause.stays)

    def _first_rows(self, terms: Sequence[str]) -> str:
        order = []
        for term in self._random.sample(list(terms), self._random.randint(0, min(2, len(terms)))):
            nulls = self.pick(["", "", " NULLS FIRST", " NULLS LAST"])
            order.append(f"{term}{self.pick(['', ' ASC', ' DESC'])}{nulls}")
        by = f" ORDER BY {', '.join(order)}" if order else ""
        offset = f" OFFSET {self.pick([0, 1, 2])}" if self.chance(0.3) else ""
        return f"{by} LIMIT {self.pick([1, 2, 3])}{offset}"

    # Subqueries in conditions and values

    def _subqueries(self, depth: int) -> _Allowed:
        return _Allowed(self, depth if self._blocks < _MOST_BLOCKS else 0)

    def condition_with_subquery(self, atoms: Sequence[Atom], depth: int) -> str:
        """EXISTS, IN, ANY or ALL, perhaps negated."""
        outer = self._visible_inside(atoms)
        kind = self.pick(["EXISTS", "IN", "IN", "ANY", "ALL", "value"])
        if kind == "EXISTS":
            word = self.pick(["EXISTS", "NOT EXISTS"])
            return f"{word} ({self.query(depth - 1, self._types(), outer).sql})"
        if kind == "value":
            return f"{self._plain(BIGINT, atoms)} {self.pick(['=', '<', '>='])} " + (
                self.value_of_subquery(atoms, depth)
            )
        types = self._types()[: 2 if kind == "IN" else 1]
        inner = self.query(depth - 1, types, outer).sql
        sides = [self._plain(each, atoms) for each in types]
        side = sides[0] if len(sides) == 1 else f"({', '.join(sides)})"
        if kind == "IN":
            return f"{side} {self.pick(['IN', 'NOT IN'])} ({inner})"
        return f"{side} {self.pick(['=', '<>', '<', '>='])} {kind} ({inner})"

    def value_of_subquery(self, atoms: Sequence[Atom], depth: int) -> str:
        """A subquery with one BIGINT: an aggregate, or the first row."""
        outer = self._visible_inside(atoms)
        if not outer and self.chance(0.3):
            inner = self._select(depth - 1, Shape((BIGINT,)))
            return f"({inner.sql} ORDER BY 1 {self.pick(['ASC', 'DESC'])} LIMIT 1)"
        return f"({self._select(depth - 1, Shape((BIGINT,), tuple(outer), aggregated=True)).sql})"

    def _visible_inside(self, atoms: Sequence[Atom]) -> list[Atom]:
        seen = [Atom(a.outer, a.type, a.outer) for a in atoms if a.outer is not None]
        return seen if self.chance(0.65) else []

    def _plain(self, wanted: str, atoms: Sequence[Atom]) -> str:
        with self.without_subqueries():
            return self.value(wanted, atoms, self.pick([0, 0, 1]))


class _Allowed:
    """Lets expressions contain subqueries for a while, down to a depth."""

    def __init__(self, generator: QueryGenerator, depth: int) -> None:
        self._generator = generator
        self._depth = depth

    def __enter__(self) -> None:
        generator, depth = self._generator, self._depth
        self._before = generator.subquery_condition, generator.subquery_value
        generator.subquery_condition = generator.subquery_value = None
        if depth > 0:
            generator.subquery_condition = lambda atoms, _: generator.condition_with_subquery(
                atoms, depth
            )
            generator.subquery_value = lambda atoms, _: generator.value_of_subquery(atoms, depth)

    def __exit__(self, *_: object) -> None:
        self._generator.subquery_condition, self._generator.subquery_value = self._before


def _operand(query: Written) -> str:
    """Parentheses around what would otherwise fall apart."""
    bare = query.sql.startswith("SELECT") and not any(
        word in query.sql for word in ("LIMIT", "UNION", "EXCEPT", "INTERSECT")
    )
    return query.sql if bare else f"({query.sql})"
