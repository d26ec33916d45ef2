"""Statements about queries that are made, not read; their texts can be read again."""

from __future__ import annotations

from sqlglot import exp

from tidemill.sql.nodes import AlterNamed, CommandQuery, CreateAs, DropNamed, PlanText
from tidemill.sql.source import Position, Source
from tidemill.sql.statements import (
    AlterQuery,
    CreateDerived,
    CreateQuery,
    CreateRelation,
    CreateStream,
    Creation,
    DropObject,
    InsertInto,
    QueryStatement,
    StartQuery,
    Statement,
    StopQuery,
)

__all__ = [
    "Definition",
    "alter_query",
    "create_query",
    "drop",
    "plan_definition",
    "query_of",
    "quoted",
    "start_query",
    "stop_query",
    "undoing",
]

Definition = QueryStatement | InsertInto
"""What stands behind AS."""


def quoted(name: str) -> str:
    """A name as SQL has it.

    >>> quoted("odd`name")
    '`odd``name`'
    """
    return f"`{name.replace('`', '``')}`"


def query_of(statement: CreateQuery | AlterQuery) -> QueryStatement:
    """The query that a statement defines, by itself; it stays in its place in the text."""
    assert statement.query is not None
    place = (statement.query_sql, statement.position, statement.source)
    return QueryStatement(statement.query, *place, query_sql=statement.query_sql)


def create_query(name: str, definition: Definition) -> CreateQuery:
    """A query under a name.

    >>> from tidemill.sql import parse_one
    >>> print(create_query("hot", parse_one("SELECT item FROM bid")).sql)
    CREATE QUERY `hot` AS
    SELECT item FROM bid
    """
    tree = CreateAs(kind="QUERY", this=_name(name), expression=definition.tree)
    sink = definition.sink if isinstance(definition, InsertInto) else None
    text = f"CREATE QUERY {quoted(name)} AS\n{definition.sql}"
    return CreateQuery(
        tree,
        text,
        definition.position,
        definition.source,
        name,
        _query(definition),
        sink,
        query_sql=definition.query_sql,
    )


def alter_query(name: str, definition: QueryStatement | None) -> AlterQuery:
    """Another definition for a query, or a better plan for the one that it has."""
    if definition is None:
        tree = AlterNamed(this=_name(name))
        return AlterQuery(tree, *_place(f"ALTER QUERY {quoted(name)} OPTIMIZE"), name)
    tree = AlterNamed(this=_name(name), expression=definition.tree)
    text = f"ALTER QUERY {quoted(name)} AS\n{definition.sql}"
    return AlterQuery(
        tree,
        text,
        definition.position,
        definition.source,
        name,
        definition.tree,
        query_sql=definition.query_sql,
    )


def start_query(name: str, partial: bool = False) -> StartQuery:
    """Let a query run."""
    text = f"START QUERY {quoted(name)}{' PARTIAL' if partial else ''}"
    tree = CommandQuery(verb="START", this=_name(name), partial=partial)
    return StartQuery(tree, *_place(text), name, partial)


def stop_query(name: str) -> StopQuery:
    """Let a query rest."""
    tree = CommandQuery(verb="STOP", this=_name(name))
    return StopQuery(tree, *_place(f"STOP QUERY {quoted(name)}"), name)


def drop(kind: str, name: str) -> DropObject:
    """The removal of a stream, relation or query (`kind`)."""
    tree = DropNamed(kind=kind, this=_name(name))
    return DropObject(tree, *_place(f"DROP {kind} {quoted(name)}"), kind, name)


_KINDS = {CreateQuery: "QUERY", CreateStream: "STREAM", CreateRelation: "RELATION"}


def undoing(statement: Statement) -> Statement | None:
    """The statement that takes back what one began; None where there is nothing to take back.

    >>> undoing(start_query("hot")).sql
    'STOP QUERY `hot`'
    """
    if isinstance(statement, StartQuery):
        return stop_query(statement.name)
    if isinstance(statement, Creation):
        if isinstance(statement, CreateDerived):
            return drop(statement.kind, statement.name)
        return drop(_KINDS[type(statement)], statement.name)
    return None


def plan_definition(tree: PlanText, text: str) -> QueryStatement:
    """A plan in the place of a query; `text` is that of the tree."""
    return QueryStatement(tree, *_place(text), query_sql=text)


def _query(definition: Definition) -> exp.Expr:
    return definition.query if isinstance(definition, InsertInto) else definition.tree


def _name(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)


def _place(text: str) -> tuple[str, Position, Source]:
    return text, Position(1, 1), Source(text)
