"""Random SQL: scripts that are valid by construction, over the sources of the random plans.

A script that the planner refuses is a fault, of the planner or of this generator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.random.expressions import BIGINT, DOUBLE, INT, Atom
from tests.random.from_clause import From, Written
from tests.random.subqueries import Shape, SubqueryWriter


class QueryGenerator(SubqueryWriter):
    """Writes scripts from a seeded source of randomness."""

    def script(self) -> str:
        """Statements that create derived streams, and a query at the end."""
        statements: list[str] = []
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
        types = self.some_types()
        if self.chance(0.2):
            written = self._set_operation(2, Shape(types))
        else:
            final = self.chance(0.5)
            shape = Shape(types, final=final, limited=not final and self.chance(0.2))
            written = self.select(self.pick([1, 2, 2]), shape)
        if not self.chance(0.12):
            return written.sql
        kind = "ISTREAM" if written.stays else self.pick(["ISTREAM", "DSTREAM", "RSTREAM"])
        return f"{kind}({written.sql})"

    def _with(self) -> str:
        query, name = self.query(1), self.fresh("w")
        self.derived.append(Written(name, query.columns, query.stays))
        return f"WITH {name} AS ({query.sql}) {self.select(1, Shape(self.some_types())).sql}"

    def query(self, depth: int, types: Sequence[str] = (), outer: Sequence[Atom] = ()) -> Written:
        """A query; one that may mention the query around it has no LIMIT."""
        shape = Shape(
            tuple(types) or self.some_types(),
            tuple(outer),
            limited=self.chance(0.15),
            free=not types and not outer,
        )
        if depth > 0 and self.chance(0.15):
            return self._set_operation(depth, shape)
        return self.select(depth, shape)

    # Set operations

    def _set_operation(self, depth: int, shape: Shape) -> Written:
        left = self.query(depth - 1, shape.types, shape.outer)
        right = self.query(depth - 1, [self._narrower(t) for t in shape.types], shape.outer)
        word = self.pick(["UNION", "EXCEPT", "INTERSECT"]) + self.pick([" ALL", ""])
        sql = f"{_operand(left)} {word} {_operand(right)}"
        if shape.limited and not shape.outer:
            sql += self._first_rows([name for name, _ in left.columns])
        return Written(sql, left.columns, left.stays or right.stays)

    def _narrower(self, wanted: str) -> str:
        """A type that the other side of a set operation may have beside this one."""
        return INT if wanted in (BIGINT, DOUBLE) and self.chance(0.15) else wanted

    # Blocks

    def select(self, depth: int, shape: Shape) -> Written:
        """One block: SELECT ... FROM ... and what follows."""
        depth = self.count_block(depth)
        clause = self.from_clause(depth, shape.outer)
        # What an alias of this block hides cannot be mentioned any more.
        outer = [a for a in shape.outer if a.text.split(".")[0] not in clause.aliases]
        shape = replace(shape, outer=tuple(outer), limited=shape.limited and not shape.outer)
        where = self._where(clause, shape, depth)
        if shape.aggregated or self.chance(0.35):
            return self._grouped(clause, where, shape, depth)
        # The time of a stream is no part of `*`.
        if shape.free and not self.names_time and self.chance(0.1):
            return self._star(clause, where)
        with self.subqueries(depth if self.chance(0.3) else 0):
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
        if self.chance(0.7 if self.calm and depth > 0 else 0.45):
            with self.subqueries(depth):
                tests.append(self.condition([*clause.atoms, *shape.outer]))
        return f" WHERE {' AND '.join(tests)}" if tests else ""

    def _correlation(self, atoms: Sequence[Atom], outer: Sequence[Atom]) -> str:
        pairs = [(a.text, b.text) for a in atoms for b in outer if a.type == b.type]
        if not pairs:
            return f"{self.pick(outer).text} IS NOT NULL"
        one, other = self.pick(pairs)
        return f"{one} {self.pick(['=', '=', '=', '<=>', '<=>', '<', '<>'])} {other}"

    def _grouped(self, clause: From, where: str, shape: Shape, depth: int) -> Written:
        keys = [] if shape.aggregated else self.keys(clause.atoms)
        atoms = [*keys, *self.calls(clause.atoms)]
        # Under an aggregation to one row, a subquery in SELECT is not supported.
        with self.subqueries(0 if shape.outer or not keys else depth):
            seen = [*atoms, *(shape.outer if self.chance(0.2) else ())]
            items = [(self.value(kind, seen, 1), kind) for kind in shape.types]
        if not keys:
            items = self.with_call(items, atoms)
        having = ""
        if self.chance(0.2):
            with self.subqueries(depth if keys else 0):
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
        if shape.limited:
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


def _operand(query: Written) -> str:
    """Parentheses around what would otherwise fall apart."""
    bare = query.sql.startswith("SELECT") and not any(
        word in query.sql for word in ("LIMIT", "UNION", "EXCEPT", "INTERSECT")
    )
    return query.sql if bare else f"({query.sql})"
