"""Plans of queries, whether they run or not."""

from __future__ import annotations

from typing import Any

from tidemill.engine import Query
from tidemill.errors import masked
from tidemill.server.problems import Refused
from tidemill.server.reading import read_one
from tidemill.server.service import Service
from tidemill.server.show.plans import plans_of
from tidemill.server.show.statements import select_of, select_text
from tidemill.sql import CreateQuery, InsertInto, QueryStatement, parse_one


def planned(service: Service, sql: str) -> tuple[Query, str]:
    """The query of a text that holds one, and its own text."""
    statement = read_one(sql, service.settings.limits)
    if not isinstance(statement, QueryStatement | CreateQuery | InsertInto):
        raise Refused("this is no query", help="write SELECT ...")
    text = select_of(statement)
    wanted = parse_one(text) if isinstance(statement, CreateQuery) else statement
    with service.lock:
        query = service.engine.execute(wanted)
    assert query is not None
    return query, masked(text)


def plan_report(service: Service, sql: str) -> dict[str, Any]:
    """Everything about the plan of a text."""
    query, text = planned(service, sql)
    return plans_of(query, text)


def plan_of_query(service: Service, name: str) -> dict[str, Any]:
    """Everything about the plan of a query that is known by name."""
    with service.lock:
        query = service.definition(service.name_of(name))
        return plans_of(query, masked(select_text(query.sql)))
