"""Texts that clients send, as long and as wide as the limits allow."""

from __future__ import annotations

from sqlglot import exp

from tidemill.server.problems import Refused, TooLarge
from tidemill.server.settings import Limits
from tidemill.sql import Parameters, Statement, parse, parse_one
from tidemill.wire.parameters import Given, from_json

NOTHING: Given = {}


def read(sql: str, limits: Limits, given: Given = NOTHING) -> list[Statement]:
    """The statements of a text. Others wait while they are planned: that must not take for ever.

    >>> [each.sql for each in read("SELECT a FROM s; DROP STREAM s", Limits())]
    ['SELECT a FROM s', 'DROP STREAM s']
    """
    _refuse_length(sql, limits)
    statements = parse(sql, _parameters(given))
    for statement in statements:
        _refuse_size(statement, limits)
    return statements


def read_one(sql: str, limits: Limits, given: Given = NOTHING) -> Statement:
    """The only statement of a text."""
    _refuse_length(sql, limits)
    statement = parse_one(sql, _parameters(given))
    _refuse_size(statement, limits)
    return statement


def _parameters(given: Given) -> Parameters:
    try:
        return Parameters(*from_json(given))
    except ValueError as error:
        raise Refused(str(error), help='as in {"type": "DATE", "value": "2024-03-01"}') from None


def refuse_large(statement: Statement, limits: Limits) -> None:
    """Refuse a statement that was made of what a client sent, if it is too long or too wide."""
    _refuse_length(statement.sql, limits)
    _refuse_size(statement, limits)


def _refuse_length(sql: str, limits: Limits) -> None:
    if len(sql) > limits.sql_characters:
        help = "send it in parts"
        raise TooLarge(f"the text has more than {limits.sql_characters} characters", help=help)


def _refuse_size(statement: Statement, limits: Limits) -> None:
    parts = tables = 0
    for node in statement.tree.walk():
        parts += 1
        tables += isinstance(node, exp.Table)
    help = "split it with CREATE STREAM ... AS"
    if tables > limits.statement_tables:
        most = limits.statement_tables
        raise TooLarge(f"the statement reads more than {most} streams or relations", help=help)
    if parts > limits.statement_parts:
        raise TooLarge(f"the statement has more than {limits.statement_parts} parts", help=help)
