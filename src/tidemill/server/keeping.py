"""Statements that are run, and noted for a restart: whenever a crash comes, both agree again."""

from __future__ import annotations

from tidemill.engine import Engine, Query
from tidemill.errors import TidemillError
from tidemill.server.persist import CatalogLog, lasts
from tidemill.server.problems import NotNow
from tidemill.server.show.statements import quoted, select_text
from tidemill.sql import AlterQuery, DropObject, Statement, StopQuery


def execute(engine: Engine, log: CatalogLog | None, statement: Statement) -> Query | None:
    """Run a statement, and note it if it lasts.

    What ends a query is noted first: a query of a checkpoint that nobody asks for is let go. What
    begins one is noted last, for the same reason. A change is noted first, and taken back if it
    is refused: the checkpoint knows which of the two definitions it has.
    """
    if log is None or not lasts(statement):
        return engine.execute(statement)
    if isinstance(statement, AlterQuery):
        return _altered(engine, log, statement)
    ends = isinstance(statement, StopQuery) or _drops_query(statement)
    if ends:
        note(log, statement.sql)
    found = engine.execute(statement)
    if not ends:
        note(log, statement.sql)
    return found


def _drops_query(statement: Statement) -> bool:
    return isinstance(statement, DropObject) and statement.kind == "QUERY"


def _altered(engine: Engine, log: CatalogLog, statement: AlterQuery) -> Query | None:
    name = engine.queries.name_of(statement.name)
    query = engine.queries.find(name)
    before = query.definition or select_text(query.sql)
    note(log, statement.sql)
    try:
        return engine.execute(statement)
    except TidemillError:
        note(log, f"ALTER QUERY {quoted(name)} AS\n{before}")
        raise


def note(log: CatalogLog, sql: str) -> None:
    """Keep a statement for a restart."""
    try:
        log.add(sql)
    except OSError as error:
        help = "is there room on the disk? A restart would not know of it"
        raise NotNow(f"the statement cannot be kept: {error.strerror}", help=help) from error
