"""Tables of an engine: what is made of them in Python is planned and run as if it were SQL."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tidemill.connectors.sinks import Target
from tidemill.engine.query import Host, Query
from tidemill.table import TableExpr

if TYPE_CHECKING:
    from tidemill.engine.started import StartedQuery


@dataclass(frozen=True, repr=False, eq=False)
class QueryTable(TableExpr):
    """A query in the making, over what an engine has. `engine.table` makes them.

    Nothing is planned before it is asked for: by `query`, or by what gives an answer.
    """

    host: Host

    def query(self) -> Query:
        """The query, planned."""
        return self.host.planned(self.sql)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the result."""
        return self.query().schema.names

    def explain(self, level: str = "logical") -> str:
        """The plan as text: see `Query.explain`."""
        return self.query().explain(level)

    def collect(self, coalesce: bool = False) -> pa.Table:
        """Run over all input: see `Query.collect`."""
        return self.query().collect(coalesce)

    def snapshot(self, at: int | datetime) -> pa.Table:
        """The rows of the result that hold at an instant."""
        return self.query().snapshot(at)

    def into(self, sink: Target, *, form: str | None = None, **options: Any) -> Query:
        """The query with a place for its results: see `Query.into`."""
        return self.query().into(sink, form=form, **options)

    def start(self, sink: Target | None = None, **options: Any) -> StartedQuery:
        """Run and send results to a sink: see `Query.start`."""
        return self.query().start(sink, **options)
