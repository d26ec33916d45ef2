"""Scripts that are checked while they are typed: nothing is executed."""

from __future__ import annotations

from contextlib import suppress

from tidemill.errors import SqlSyntaxError
from tidemill.server.planning import planning
from tidemill.server.reading import read
from tidemill.server.service import Service
from tidemill.show.problems import problem
from tidemill.show.statements import kind_of, offset_of
from tidemill.sql import Statement
from tidemill.wire.statements import ScriptCheck, StatementPlace


def check(service: Service, sql: str) -> ScriptCheck:
    """The statements of a script with their places, and what is wrong with them."""
    with suppress(SqlSyntaxError):  # those are reported below, with all others
        read(sql, service.settings.limits)
    with service.lock:
        checker = service.engine.checker()
    with planning(service.settings.limits):
        checked = checker(sql)
    return ScriptCheck(
        statements=list(map(_place, checked.statements)),
        errors=[problem(error) for error in checked.errors],
        warnings=[problem(warning) for warning in checked.warnings],
    )


def _place(statement: Statement) -> StatementPlace:
    start = offset_of(statement)
    return StatementPlace(
        kind=kind_of(statement),
        name=getattr(statement, "name", None),
        start=start,
        end=start + len(statement.sql),
    )
