"""Statements that are run, and noted for a restart: whenever a crash comes, both agree again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from tidemill.analyze import source_from_statement
from tidemill.engine import Engine, Query, Report
from tidemill.errors import TidemillError
from tidemill.server.persist import CatalogLog, lasts
from tidemill.server.problems import NotNow
from tidemill.sql import (
    AlterQuery,
    CreateRelation,
    CreateStream,
    DropObject,
    Statement,
    StopQuery,
)
from tidemill.sql.building import drop, undoing


def execute(
    engine: Engine, log: CatalogLog | None, statement: Statement, planned: Query | None = None
) -> Query | Report | None:
    """Run a statement, whose query may be `planned` already, and note it if it lasts.

    What ends a query is noted first: a query of a checkpoint without a definition is let go. What
    begins one is noted last, for the same reason. A change is noted first, and taken back if it
    is refused: the checkpoint knows which of the two definitions it has.
    """
    if log is None or not lasts(statement):
        return execute_together(engine, None, [statement], planned)
    if isinstance(statement, AlterQuery):
        engine.queries.refuse_used(statement.name, "change")
        return _altered(engine, log, statement, planned)
    if isinstance(statement, StopQuery) or _drops_query(statement):
        if isinstance(statement, DropObject):
            engine.queries.refuse_used(statement.name, "drop")
        note(log, statement.sql)
        return engine.execute(statement)
    if statement.or_replace and isinstance(statement, CreateStream | CreateRelation):
        _make_room(engine, log, statement)
    if isinstance(statement, CreateRelation):
        engine.clear_relation(statement.name)  # a crash may have left one of this name
    found = execute_together(engine, log, [statement], planned)
    if isinstance(statement, DropObject):
        engine.clear_relation(statement.name)
    return found


def _make_room(engine: Engine, log: CatalogLog, statement: CreateStream | CreateRelation) -> None:
    """Drop what a source replaces, with the rows that it has."""
    # What cannot be made replaces nothing.
    source_from_statement(statement)
    if engine.allow is not None:
        engine.allow.check(statement)
    if engine.catalog.find(statement.name) is not None:
        execute(engine, log, drop(str(statement.tree.text("kind")), statement.name))


def execute_together(
    engine: Engine,
    log: CatalogLog | None,
    statements: Sequence[Statement],
    planned: Query | None = None,
) -> Query | Report | None:
    """Run statements that begin something, and note them at once: all of them, or none.

    The query of the first may be `planned` already.
    """
    found, done = None, list[Statement]()
    try:
        for statement in statements:
            done.append(statement)
            found = engine.execute(statement, planned if len(done) == 1 else None)
        if log is not None:
            note(log, ";\n".join(each.sql for each in statements))
    except OSError as error:
        _take_back(engine, done)
        help = "is there room on the disk? Nothing was changed"
        raise NotNow(f"this cannot be saved: {error.strerror or error}", help=help) from error
    except TidemillError as error:
        # What the engine refuses by itself leaves nothing behind.
        _take_back(engine, done if isinstance(error, NotNow) else done[:-1])
        raise
    return found


def _take_back(engine: Engine, statements: Sequence[Statement]) -> None:
    """As if statements had not been run; of what cannot be undone, a restart does not know."""
    for statement in reversed(statements):
        if (back := undoing(statement)) is not None:
            with suppress(TidemillError, OSError):
                engine.execute(back)


def _drops_query(statement: Statement) -> bool:
    return isinstance(statement, DropObject) and statement.kind == "QUERY"


def _altered(
    engine: Engine, log: CatalogLog, statement: AlterQuery, planned: Query | None
) -> Query | Report | None:
    """Change a query. A restart defines what is noted: what cannot be planned never is."""
    query = planned or engine.apart().query(statement)
    assert query is not None
    engine.queries.refuse_itself(statement.name, query)
    note(log, statement.sql)
    try:
        return engine.execute(statement, query)
    except TidemillError:
        with suppress(OSError):  # a restart finds out that the checkpoint has another definition
            log.take_back()
        raise


def note(log: CatalogLog, sql: str) -> None:
    """Keep a statement for a restart."""
    try:
        log.add(sql)
    except OSError as error:
        help = "is there room on the disk? A restart would not know of it"
        raise NotNow(f"the statement cannot be saved: {error.strerror}", help=help) from error
