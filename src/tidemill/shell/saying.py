"""What the shell says about a statement that was run."""

from __future__ import annotations

from tidemill.sql import (
    AlterQuery,
    CreateDerived,
    CreateQuery,
    CreateRelation,
    CreateStream,
    DeleteFrom,
    DropObject,
    InsertInto,
    InsertValues,
    StartQuery,
    Statement,
    StopQuery,
)


def said(statement: Statement, started: str | None = None) -> str:
    """A few words on what a statement has done; `started` is the query that it started.

    >>> from tidemill.sql import parse_one
    >>> said(parse_one("STOP QUERY hot"))
    'query hot stopped'
    """
    match statement:
        case CreateStream(name=name):
            return f"stream {name} created"
        case CreateRelation(name=name):
            return f"relation {name} created"
        case CreateDerived(kind=kind, name=name):
            return f"{kind.lower()} {name} created"
        case CreateQuery(name=name):
            return f"query {name} created; START QUERY {name} lets it run"
        case StartQuery(name=name):
            return f"query {name} started; \\watch {name} shows it"
        case StopQuery(name=name):
            return f"query {name} stopped"
        case AlterQuery(name=name):
            return f"query {name} altered"
        case DropObject(kind=kind, name=name):
            return f"{kind.lower()} {name} dropped"
        case InsertInto(sink=sink):
            return f"query {started} started; its results go to {sink.format}"
        case InsertValues(name=name, rows=rows):
            return f"{len(rows):,} {'row' if len(rows) == 1 else 'rows'} inserted into {name}"
        case DeleteFrom(name=name):
            return f"rows deleted from {name}"
        case _:
            return "done"
