"""SHOW, DESCRIBE and EXPLAIN: statements that are answered with a table."""

from __future__ import annotations

from tidemill.algebra.types import name_of
from tidemill.catalog import Derived
from tidemill.connectors.sinks import SinkRequest
from tidemill.engine.describing import entry_columns, functions_of, query_text, sql_of
from tidemill.engine.hosting import QueryHost
from tidemill.engine.planning import Planning
from tidemill.engine.query import Query
from tidemill.engine.reports import Report, plan_report, report_of
from tidemill.errors import CatalogError, masked
from tidemill.sql import DescribeName, ExplainQuery, ShowObjects, Telling

_KINDS = {
    "STREAMS": ("stream", "derived stream"),
    "RELATIONS": ("relation", "derived relation"),
    "VIEWS": ("view",),
    "QUERIES": ("query",),
}


class Teller:
    """Answers what is asked about an engine."""

    def __init__(self, host: QueryHost, planning: Planning) -> None:
        self._host = host
        self._planning = planning

    def tell(self, statement: Telling, planned: Query | None = None) -> Report:
        """The answer to a statement, whose query may be `planned` already."""
        match statement:
            case ShowObjects(kind="CREATE", name=str(name)):
                return report_of(("statement",), [(self._created(name),)])
            case ShowObjects():
                return self._shown(statement.kind)
            case DescribeName():
                return self._described(statement.name)
            case ExplainQuery():
                return self._explained(statement, planned)

    def _shown(self, kind: str) -> Report:
        if kind == "FUNCTIONS":
            return report_of(("name", "kind"), list(functions_of(self._host.catalog)))
        listing = self._host.listing()
        if kind == "QUERIES":
            queries = [each for each in listing if each.kind == "query"]
            rows = [(each.name, each.state, ", ".join(each.depends_on)) for each in queries]
            return report_of(("name", "state", "reads"), rows)
        wanted = _KINDS.get(kind)
        tables = [each for each in listing if each.kind != "query"]
        names = [(each.name, each.kind) for each in tables if wanted is None or each.kind in wanted]
        return report_of(("name", "kind"), names)

    def _created(self, name: str) -> str:
        if name.casefold() in map(str.casefold, self._host.queries.names):
            return masked(
                query_text(self._host.queries.name_of(name), self._host.queries.find(name))
            )
        entry = self._host.catalog.lookup(name)
        return masked(entry.sql) if isinstance(entry, Derived) else sql_of(entry)

    def _described(self, name: str) -> Report:
        catalog = self._host.catalog
        found = catalog.readable(name)
        if found is None:
            raise CatalogError(f"there is no `{name}`", help=catalog.remedy(name))
        columns = entry_columns(found)
        return report_of(("column", "type"), [(f.name, name_of(f.type)) for f in columns])

    def _explained(self, statement: ExplainQuery, planned: Query | None) -> Report:
        query = planned or self.query_of(statement)
        if statement.analyze and statement.name is None:
            query.collect()
        return plan_report(query.explain(statement.level))

    def query_of(self, statement: ExplainQuery) -> Query:
        """The query that is explained."""
        if statement.query is None:
            return self._host.queries.find(str(statement.name))
        return self._planning.query(statement, statement.query, SinkRequest(), self._host)
