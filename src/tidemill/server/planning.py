"""Plans of queries, whether they run or not."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from tidemill.deadline import within
from tidemill.engine import Query
from tidemill.engine.apart import Apart, query_tree
from tidemill.errors import masked
from tidemill.server.problems import Refused
from tidemill.server.reading import NOTHING, read_one
from tidemill.server.service import Service
from tidemill.server.settings import Limits
from tidemill.show.plans import plans_of
from tidemill.show.statements import select_text
from tidemill.sql import CreateQuery, InsertInto, PlanText, QueryStatement, Statement
from tidemill.sql.building import Definition, query_of
from tidemill.wire.parameters import Given
from tidemill.wire.plans import PlanReport


@dataclass(frozen=True)
class PlannedApart:
    """A query that was planned while others used the engine, and with what."""

    query: Query
    apart: Apart

    @property
    def if_right(self) -> Query | None:
        """The query, unless the engine knows other streams, functions or queries by now."""
        return self.query if self.apart.is_still_right(self.query) else None


def query_in(service: Service, sql: str, given: Given = NOTHING) -> Definition:
    """The query of a text that holds one."""
    statement = read_one(sql, service.settings.limits, given)
    if isinstance(statement, CreateQuery):
        statement = query_of(statement)
    if not isinstance(statement, QueryStatement | InsertInto):
        raise Refused("this is not a query", help="write SELECT ...")
    if isinstance(query_tree(statement), PlanText):
        raise Refused("this is a plan already", help="write SELECT ...")
    return statement


def planned(service: Service, query: Definition) -> PlannedApart:
    """A query that was planned, and with what."""
    found = planned_apart(service, query)
    assert found is not None
    return found


def planned_apart(service: Service, statement: Statement) -> PlannedApart | None:
    """The query of a statement, planned while others use the engine, and in bounded time."""
    with service.lock:
        apart = service.engine.apart()
    with planning(service.settings.limits):
        query = apart.query(statement)
    return None if query is None else PlannedApart(query, apart)


def planning(limits: Limits) -> AbstractContextManager[None]:
    """Planning ends, with an error, when it takes too long."""
    return within(limits.plan_seconds, "planning the query", "make it smaller")


def plan_report(service: Service, sql: str, given: Given) -> PlanReport:
    """Everything about the plan of a text."""
    wanted = query_in(service, sql, given)
    found = planned(service, wanted)
    with planning(service.settings.limits):
        return plans_of(found.query, masked(wanted.query_sql))


def plan_of_query(service: Service, name: str) -> PlanReport:
    """Everything about the plan of a query that is known by name."""
    with service.lock:
        query = service.definition(service.name_of(name))
        return plans_of(query, masked(select_text(query.sql)))
