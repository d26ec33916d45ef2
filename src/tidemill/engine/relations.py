"""Relations that the engine keeps and users change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import Schema, SourceKind
from tidemill.analyze import plan_query
from tidemill.catalog import Catalog, SourceInfo
from tidemill.connectors.change_source import DELETED, INSERTED
from tidemill.engine.new_rows import checked_rows
from tidemill.errors import CatalogError
from tidemill.physical.lowering import lower
from tidemill.physical.mechanisms.arrays import Bools
from tidemill.physical.operators.source import SourceExec
from tidemill.runtime.operators import Graph
from tidemill.runtime.relation_log import RelationLog
from tidemill.runtime.relations import Follower, LocalRelation
from tidemill.runtime.validity import TimedRows, Timing, instants
from tidemill.sql import DeleteFrom, Statement
from tidemill.timeline import BEGIN, OPEN_END, TimeDomain

Instant = int | datetime

_ROW = "#row"


@dataclass
class KeptRelation:
    """A relation that changes, and its domain of time, which the queries decide."""

    info: SourceInfo
    load: Callable[[], pa.Table]
    log: RelationLog | None = None
    _domains: set[TimeDomain] = field(default_factory=set)
    _first_stamp: datetime | None = None

    def __post_init__(self) -> None:
        first = lambda: with_past(self.info, self.load())  # noqa: E731
        self._local = LocalRelation(self.info.schema, first, self.log)
        if self.info.domain is not None:
            self._domains.add(self.info.domain)

    def insert(self, rows: Any, at: Instant | None) -> int:
        """Add rows; how many."""
        new = Timing.of(self.info).checked(checked_rows(self.info, rows))
        return self._local.insert(new, self._instant(at))

    def delete(
        self, where: exp.Expr | None, text: str, catalog: Catalog, at: Instant | None
    ) -> int:
        """Take out the rows for which a condition is true; how many."""

        def chosen(rows: pl.DataFrame) -> Bools:
            return rows_where(self.info, rows, where, text, catalog)

        return self._local.delete(chosen, self._instant(at))

    def content(self) -> pa.Table:
        """All rows, with their past."""
        return self._local.follow().content()[0]

    def follow(self) -> Follower:
        """The rows and changes for a query that runs."""
        return self._local.follow()

    def use(self, domain: TimeDomain | None) -> None:
        """Take note that a query uses the relation, whose time is this."""
        if domain is TimeDomain.TICKS and self._first_stamp is not None:
            raise self._no_instant(self._first_stamp)
        if domain is not None:
            self._domains.add(domain)

    def _instant(self, at: Instant | None) -> int | None:
        if at is None:
            return None
        value = at
        if isinstance(at, datetime):
            if TimeDomain.TICKS in self._domains:
                raise self._no_instant(at)
            self._first_stamp = self._first_stamp or at
            aware = at if at.tzinfo else at.replace(tzinfo=UTC)
            value = pa.scalar(aware, pa.timestamp("us", "UTC")).value
        if isinstance(value, bool) or not isinstance(value, int) or not _is_time(value):
            help = "an instant is an integer from 0 on, or a datetime from 1970 on"
            raise CatalogError(f"{at!r} is not an instant", help=help)
        return value

    def _no_instant(self, at: datetime) -> CatalogError:
        message = f"`{self.info.name}` is used with integer time, and {at} is not an instant of it"
        return CatalogError(message, help="give `at` as an integer")


def _is_time(value: int) -> bool:
    return BEGIN <= value <= OPEN_END - 2


def with_past(info: SourceInfo, table: pa.Table) -> pa.Table:
    """The rows of a relation; columns that tell its past become instants."""
    rows = table.select(info.schema.names).cast(info.schema.to_arrow())
    if info.valid_from is None or info.valid_to is None:
        return rows
    begin = instants(table.column(info.valid_from), info.name, info.valid_from)
    end = instants(table.column(info.valid_to), info.name, info.valid_to, null=OPEN_END)
    rows = rows.append_column(INSERTED, pa.array(begin)).append_column(DELETED, pa.array(end))
    return rows.filter(pa.array(begin < end))


def condition_of(statement: Statement) -> exp.Expr | None:
    """The condition of a DELETE that a user has written without the rest."""
    if not isinstance(statement, DeleteFrom) or statement.at is not None:
        help = "give the condition alone, and the instant as at=..."
        raise CatalogError(f"`{statement.sql}` is more than a condition", help=help)
    return statement.where


def rows_where(
    info: SourceInfo, rows: pl.DataFrame, where: exp.Expr | None, text: str, catalog: Catalog
) -> Bools:
    """For which rows a condition is true; errors show its place in the text."""
    if where is None:
        return np.ones(rows.height, dtype=np.bool_)
    columns = Schema((*info.schema, *Schema.of(**{_ROW: pa.int64()})))
    own = Catalog()
    own.functions = catalog.functions
    own.add_source(SourceInfo(info.name, columns, SourceKind.CONSTANT, None, bounded=True))
    tree = exp.select(exp.column(_ROW, quoted=True)).from_(exp.to_table(info.name)).where(where)
    plan = lower(plan_query(tree, text, own).plan, own.functions)
    table = rows.with_row_index(_ROW).to_arrow()
    graph = Graph(plan)
    (leaf,) = (leaf for leaf in graph.leaves if isinstance(leaf, SourceExec))
    there = TimedRows(table, np.zeros(rows.height, np.int64), np.full(rows.height, OPEN_END))
    ((found, _),) = graph.step([(there.scanned(leaf.scan), OPEN_END)])
    chosen = np.zeros(rows.height, dtype=np.bool_)
    chosen[found[_ROW].to_numpy().astype(np.int64)] = True
    return chosen
