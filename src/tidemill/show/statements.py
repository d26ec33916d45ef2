"""Statements: what they are called, and the query that stands in one."""

from __future__ import annotations

import re
from functools import lru_cache

from sqlglot.tokens import TokenType

from tidemill.sql import (
    AlterQuery,
    CreateQuery,
    DropObject,
    InsertInto,
    QueryStatement,
    Statement,
    parse_one,
)


def kind_of(statement: Statement) -> str:
    """What a statement is called.

    >>> from tidemill.sql import parse
    >>> [kind_of(each) for each in parse("CREATE QUERY q AS SELECT 1 AS n; DROP QUERY q; SELECT 1")]
    ['create_query', 'drop_query', 'select']
    """
    if isinstance(statement, QueryStatement):
        return "select"
    if isinstance(statement, DropObject):
        return f"drop_{statement.kind.lower()}"
    return "_".join(re.findall("[A-Z][a-z]*", type(statement).__name__)).lower()


def select_of(statement: Statement) -> str:
    """The query in a statement, as it was written, without the name and the sink it is given.

    >>> from tidemill.sql import parse
    >>> [named] = parse("CREATE QUERY q AS INSERT INTO csv(path => 'x') SELECT  a FROM s")
    >>> select_of(named)
    'SELECT  a FROM s'
    """
    if not isinstance(statement, CreateQuery | AlterQuery | InsertInto):
        return statement.sql
    source = statement.source
    begin = offset_of(statement)
    tokens = [t for t in source.tokens if begin <= t.start < begin + len(statement.sql)]
    # CREATE QUERY q AS, ALTER QUERY q AS
    rest = tokens if isinstance(statement, InsertInto) else tokens[4:]
    if rest and rest[0].token_type is TokenType.INSERT:
        closing = next(n for n, t in enumerate(rest) if t.token_type is TokenType.R_PAREN)
        rest = rest[closing + 1 :]
    return source.text[rest[0].start : begin + len(statement.sql)] if rest else ""


def offset_of(statement: Statement) -> int:
    """Where a statement begins in its script.

    >>> from tidemill.sql import parse
    >>> [offset_of(each) for each in parse("SELECT 1 AS a;\\n SELECT 2 AS b")]
    [0, 16]
    """
    lines = statement.source.text.split("\n")[: statement.position.line - 1]
    return sum(len(line) + 1 for line in lines) + statement.position.column - 1


@lru_cache(maxsize=4096)
def select_text(sql: str) -> str:
    """The query in a text with one statement."""
    return select_of(parse_one(sql))


def quoted(name: str) -> str:
    """A name as SQL has it.

    >>> quoted("odd`name")
    '`odd``name`'
    """
    return f"`{name.replace('`', '``')}`"
