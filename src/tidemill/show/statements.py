"""Statements: what they are called, and the query that stands in one."""

from __future__ import annotations

import re
from functools import lru_cache

from tidemill.sql import CreateDerived, DropObject, QueryStatement, Statement, parse_one


def kind_of(statement: Statement) -> str:
    """What a statement is called.

    >>> from tidemill.sql import parse
    >>> [kind_of(each) for each in parse("CREATE QUERY q AS SELECT 1 AS n; DROP QUERY q; SELECT 1")]
    ['create_query', 'drop_query', 'select']
    """
    if isinstance(statement, QueryStatement):
        return "select"
    if isinstance(statement, CreateDerived):
        return "create_view" if statement.kind == "VIEW" else "create_derived"
    if isinstance(statement, DropObject):
        return f"drop_{statement.kind.lower()}"
    return "_".join(re.findall("[A-Z][a-z]*", type(statement).__name__)).lower()


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
    return parse_one(sql).query_sql
