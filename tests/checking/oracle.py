"""What SQL itself says: every snapshot of a query computed by DuckDB.

A stream query means the ordinary query over the rows that are valid at an instant. So at an
instant, every windowed stream of a query is replaced by a table of the rows in its window, and
DuckDB runs what is left. It knows nothing of our planner, so it finds errors that the planner's
own plan cannot show: NULLs under NOT IN, correlated subqueries, outer joins.
"""

from __future__ import annotations

import atexit
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import duckdb
from sqlglot import exp

from tests.checking.oracle_sql import adapt
from tests.checking.oracle_windows import granule_of, window_instants, window_rows
from tests.checking.plans import Inputs
from tests.random.data import TIME, to_table
from tidemill.reference import Row, Snapshot, canonical_row
from tidemill.sql import CreateDerived, StreamFunction, parse

_MOST_TABLES = 60

_BUMP = "CREATE MACRO bump(x) AS CAST(COALESCE(x + 1, 0) AS BIGINT)"
"""The user function of the random queries, in DuckDB's words."""

# A variance of what is not finite, and subqueries that DuckDB does not know how to run.
_REFUSED = (duckdb.OutOfRangeException, duckdb.NotImplementedException)


class NotComparable(Exception):
    """DuckDB cannot be asked this, or means something else by it."""


class Oracle:
    """Answers for one script over one set of inputs."""

    def __init__(self, script: str, inputs: Inputs) -> None:
        self._rows = {name: stream.in_time() for name, stream in inputs.streams.items()}
        self._relations = {
            name: [{**row, TIME: None} for row in rows] for name, rows in inputs.relations.items()
        }
        *creations, last = parse(script)
        self._queries: dict[str, exp.Expr] = {}
        for statement in creations:
            assert isinstance(statement, CreateDerived)
            self._queries[statement.name] = statement.query
        self._tree = self._without_ctes(last.tree)
        self._names_time = any(node.name == TIME for node in self._columns(last.tree))

    def _columns(self, tree: exp.Expr) -> Iterable[exp.Expr]:
        for query in (tree, *self._queries.values()):
            yield from query.find_all(exp.Column, exp.Identifier)

    def _without_ctes(self, tree: exp.Expr) -> exp.Expr:
        """Take WITH away: its queries are known by their names, which occur only once."""
        tree = tree.copy()
        for clause in list(tree.find_all(exp.With)):
            for table in clause.expressions:
                self._queries[table.alias] = table.this
            clause.pop()
        return tree

    def at(self, instant: int) -> Snapshot:
        """The rows of the last query at an instant."""
        self._tables = 0
        text = adapt(self._query(self._tree, instant)).sql(dialect="duckdb")
        try:
            found = _connection().execute(text).fetchall()
        except _REFUSED as error:
            raise NotComparable(str(error)) from error
        except duckdb.InternalException as error:
            # A bug of DuckDB's, after which its database may be of no use any more.
            _connection.cache_clear()
            raise NotComparable(str(error)) from error
        except duckdb.Error as error:
            raise AssertionError(f"DuckDB: {error}\n{text}") from error
        return Counter(canonical_row(row) for row in found)

    def _query(self, node: exp.Expr, t: int) -> exp.Expr:
        """The tree with every stream replaced by a table of what it holds at t."""
        if isinstance(node, StreamFunction):
            return self._changes(node, t)
        if isinstance(node, exp.Table):
            return self._entry(node, t)
        if isinstance(node, exp.Subquery) and _has_clauses(node):
            return self._entry(node, t)
        return type(node)(**{key: self._part(value, t) for key, value in node.args.items()})

    def _part(self, value: Any, t: int) -> Any:
        if isinstance(value, list):
            return [self._part(each, t) for each in value]
        return self._query(value, t) if isinstance(value, exp.Expr) else value

    def _changes(self, node: StreamFunction, t: int) -> exp.Expr:
        """ISTREAM, DSTREAM and RSTREAM by their definitions."""
        kind, now = node.text("kind"), self._whole(node.this, t)
        if kind == "RSTREAM" or (kind == "ISTREAM" and t == 0):
            return now
        other = self._whole(node.this, t - 1 if kind == "ISTREAM" else t + 1)
        return exp.Except(this=_closed(now), expression=_closed(other), distinct=False)

    def _whole(self, node: exp.Expr, t: int) -> exp.Expr:
        """What a stream function takes: a query, or an entry of FROM."""
        if isinstance(node, exp.Table):
            return exp.select("*").from_(self._entry(node, t))
        return self._query(node, t)

    def _entry(self, node: exp.Expr, t: int) -> exp.Expr:
        """An entry of FROM: the rows that its window and granularity show at t."""
        t = t // granule_of(node) * granule_of(node)
        window = node.args.get("stream_window")
        alias = node.alias or node.name
        if isinstance(node, exp.Table) and node.name in self._rows:
            content = window_rows(self._rows[node.name], window, t)
            return exp.alias_(self._table(content, self._names_time), alias, table=True)
        if isinstance(node, exp.Table) and node.name in self._relations:
            content = self._relations[node.name]
            return exp.alias_(self._table(content, False), alias, table=True)
        instants = window_instants(window, t)
        if instants is None:
            raise NotComparable("a count window over a query")
        return self._union([self._inside(node, u) for u in instants], self._inside(node, t), alias)

    def _inside(self, node: exp.Expr, t: int) -> exp.Expr:
        if isinstance(node, exp.Table) and isinstance(node.this, StreamFunction):
            return self._changes(node.this, t)
        if isinstance(node, exp.Table):
            return self._query(self._queries[node.name], t)
        return self._query(node.this, t)

    def _union(self, parts: Sequence[exp.Expr], shape: exp.Expr, alias: str) -> exp.Expr:
        if not parts:  # a window that has not moved yet: the columns, and no rows
            nothing = exp.select("*").from_(exp.Subquery(this=shape, alias="nothing"))
            return exp.Subquery(this=nothing.where("FALSE"), alias=exp.TableAlias(this=alias))
        whole: exp.Expr = _closed(parts[0])
        for part in parts[1:]:
            whole = exp.Union(this=whole, expression=_closed(part), distinct=False)
        return exp.Subquery(this=whole, alias=exp.TableAlias(this=exp.to_identifier(alias)))

    def _table(self, rows: Sequence[Mapping[str, Any]], with_time: bool) -> exp.Table:
        self._tables += 1
        if self._tables > _MOST_TABLES:
            raise NotComparable("too many windows inside each other")
        name = f"content{self._tables}"
        table = to_table(tuple(dict(row) for row in rows))
        if not with_time:
            table = table.drop_columns([TIME])
        _connection().register(name, table)
        return exp.to_table(name)


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    """One database for all: to open one takes longer than most queries."""
    connection = duckdb.connect(":memory:")
    atexit.register(connection.close)
    connection.execute("SET threads = 1")
    connection.execute(_BUMP)
    return connection


def _has_clauses(node: exp.Expr) -> bool:
    return bool(node.args.get("stream_window") or node.args.get("granularity"))


def _closed(tree: exp.Expr) -> exp.Expr:
    return exp.select("*").from_(exp.Subquery(this=tree, alias=exp.TableAlias(this="part")))


def nearly_equal(found: Snapshot, expected: Snapshot) -> bool:
    """Whether two snapshots are equal up to the last bits of doubles.

    >>> nearly_equal(Counter({(0.3, "a"): 1}), Counter({(0.1 + 0.2, "a"): 1}))
    True
    """
    if found == expected:
        return True
    one, other = (sorted(rows.elements(), key=_rough) for rows in (found, expected))
    return len(one) == len(other) and all(map(_near, one, other))


def _rough(row: Row) -> str:
    return repr([f"{v:.5g}" if isinstance(v, float) else v for v in row])


def _near(one: Row, other: Row) -> bool:
    return all(
        math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) or a is b
        if isinstance(a, float) and isinstance(b, float)
        else a == b
        for a, b in zip(one, other, strict=True)
    )
