"""Scripts that are checked while they are typed: nothing is executed."""

from __future__ import annotations

from typing import Any

from tidemill.engine import Engine
from tidemill.errors import PlanWarning, TidemillError
from tidemill.server.problems import problem
from tidemill.server.service import Service
from tidemill.server.show.statements import kind_of
from tidemill.sql import (
    AlterQuery,
    CreateDerived,
    CreateQuery,
    CreateRelation,
    CreateStream,
    InsertInto,
    QueryStatement,
    Statement,
    parse,
)

_PLANNED = (
    AlterQuery,
    CreateDerived,
    CreateQuery,
    CreateRelation,
    CreateStream,
    InsertInto,
    QueryStatement,
)


def check(service: Service, sql: str) -> dict[str, Any]:
    """The statements of a script, and what is wrong with them."""
    found: dict[str, list[Any]] = {"statements": [], "errors": [], "warnings": []}
    with service.lock:
        scratch = _copy(service.engine)
    try:
        statements = parse(sql)
    except TidemillError as error:
        return found | {"errors": [problem(error)]}
    offset = 0
    for statement in statements:
        start = sql.index(statement.sql, offset)
        offset = start + len(statement.sql)
        name = getattr(statement, "name", None)
        place = {"kind": kind_of(statement), "name": name, "start": start, "end": offset}
        found["statements"].append(place)
        _try(scratch, statement, found)
    return found


def _try(scratch: Engine, statement: Statement, found: dict[str, list[Any]]) -> None:
    warnings: tuple[PlanWarning, ...] = ()
    try:
        if isinstance(statement, _PLANNED):
            query = scratch.execute(statement)
            if isinstance(statement, CreateQuery):
                query = scratch.queries.find(statement.name)
            warnings = () if query is None else query.warnings
    except TidemillError as error:
        found["errors"].append(problem(error))
    found["warnings"].extend(map(problem, warnings))


def _copy(engine: Engine) -> Engine:
    """An engine that knows what this one knows, and runs nothing."""
    scratch = Engine(runtime="inprocess")
    catalog = engine.catalog
    scratch.catalog.functions.update(catalog.functions)
    scratch.catalog.aggregates.update(catalog.aggregates)
    for name in catalog.names:
        entry = catalog.lookup(name)
        scratch.catalog._add(entry)
    for each in engine.listing():
        if each.kind == "query":
            scratch.queries.define(each.name, engine.queries.find(each.name))
    return scratch
