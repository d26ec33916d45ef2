"""From the text of a script to its statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokens import Token, TokenType

from tidemill.errors import SqlSyntaxError
from tidemill.long_conditions import flatten_conditions
from tidemill.sql.base import LocatedParseError, syntax_error
from tidemill.sql.diagnose import explain_parse_error, explain_token_error
from tidemill.sql.dialect import Tidemill
from tidemill.sql.nodes import (
    STREAM_FUNCTIONS,
    AlterNamed,
    CommandQuery,
    CreateAs,
    CreateSource,
    DeleteRows,
    DropNamed,
    InsertRows,
    InsertSink,
    StreamFunction,
)
from tidemill.sql.source import Source, attach_source, error_at
from tidemill.sql.statements import (
    AlterQuery,
    CreateQuery,
    InsertInto,
    Statement,
    statement_of,
)

__all__ = ["parse", "parse_one"]

_CHANGES = (InsertSink, InsertRows, DeleteRows)
_NAMED = (CreateAs, CreateSource, DropNamed, CommandQuery, AlterNamed)
_TREES = (exp.Query, StreamFunction, *_NAMED, *_CHANGES)
DEEPEST = 150
"""Levels of a tree: what walks deeper ones takes its time, or comes to the end of the stack."""

_UNSETTLED = (exp.Any, exp.All, exp.Anonymous, exp.Parameter, exp.Placeholder)


def parse(sql: str) -> list[Statement]:
    """Parse a script of statements separated by semicolons.

    >>> create, query = parse("CREATE STREAM s AS SELECT * FROM bid; SELECT * FROM s")
    >>> create.name, query.sql, query.position.column
    ('s', 'SELECT * FROM s', 39)
    """
    source = Source(sql, _tokenize(sql))
    return [_parse_statement(tokens, source) for tokens in _split(source.tokens)]


def parse_one(sql: str) -> Statement:
    """Parse a text that holds exactly one statement."""
    statements = parse(sql)
    if not statements:
        raise SqlSyntaxError("there is no statement", help="write for example SELECT * FROM bid")
    if len(statements) > 1:
        start = statements[1].position
        raise SqlSyntaxError(
            "expected one statement, found a second",
            line=start.line,
            column=start.column,
            length=start.length,
            help="run a script with several statements, or remove this one",
            sql=sql,
        )
    return statements[0]


def _tokenize(sql: str) -> list[Token]:
    try:
        return Tidemill().tokenize(sql)
    except TokenError as error:
        raise explain_token_error(error, sql) from None


def _split(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    chunk: list[Token] = []
    for token in tokens:
        if token.token_type != TokenType.SEMICOLON:
            chunk.append(token)
        elif chunk:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _parse_statement(tokens: list[Token], source: Source) -> Statement:
    start, end = tokens[0].start, tokens[-1].end + 1
    tree = _parse_tree(tokens, source.text)
    if not isinstance(tree, _TREES) or isinstance(tree, exp.Table):
        help = "write for example SELECT * FROM bid"
        raise syntax_error("this is not a statement", source.text, start, end, help)
    attach_source(tree, source)
    _settle(tree)
    text = source.text[start:end]
    statement = statement_of(tree, text, source.position(start, tokens[0].end + 1), source)
    return replace(statement, query_sql=source.text[_query_start(statement, tokens) : end])


def _query_start(statement: Statement, tokens: list[Token]) -> int:
    """Where the query of a statement begins; that is itself, if there is none."""
    if not isinstance(statement, CreateQuery | AlterQuery | InsertInto):
        return tokens[0].start
    # CREATE QUERY q AS, ALTER QUERY q AS
    rest = tokens if isinstance(statement, InsertInto) else tokens[4:]
    if rest and rest[0].token_type is TokenType.INSERT:
        closing = next(n for n, t in enumerate(rest) if t.token_type is TokenType.R_PAREN)
        rest = rest[closing + 1 :]
    return rest[0].start if rest else tokens[-1].end + 1


def _settle(tree: exp.Expr) -> None:
    """Give equal meanings equal trees, and refuse what only looks like an expression."""
    for node in list(tree.find_all(*_UNSETTLED)):
        if isinstance(node, (exp.Any, exp.All)):
            # sqlglot keeps the parentheses of ANY (SELECT ...) and drops those of ALL.
            if isinstance(node.this, exp.Subquery) and node.this.is_wrapper:
                node.set("this", node.this.this)
        elif isinstance(node, exp.Anonymous):
            _refuse_stream_function(node)
        else:
            help = "write the value itself; a text is written in quotation marks"
            raise error_at(SqlSyntaxError, "parameters are not supported", node, help)


def _refuse_stream_function(node: exp.Anonymous) -> None:
    kind = node.name.upper()
    if kind in STREAM_FUNCTIONS:
        help = f"write {kind}(SELECT ...), SELECT {kind}(a, b) FROM ... or FROM {kind}(name)"
        message = f"{kind} applies to a whole query or to a name in FROM"
        raise error_at(SqlSyntaxError, message, node, help)


def _parse_tree(tokens: list[Token], sql: str) -> exp.Expr | None:
    try:
        tree = Tidemill().parser().parse(tokens, sql)[0]
        if tree is not None and _depth(flatten_conditions(tree)) > DEEPEST:
            raise RecursionError
        return tree
    except LocatedParseError as error:
        raise explain_parse_error(error, tokens, sql) from None
    except ParseError as error:
        message = str(error).split("\n", 1)[0]
        raise syntax_error(message, sql, tokens[0].start, tokens[0].end + 1) from None
    except RecursionError:
        help = "split the query with CREATE STREAM ... AS"
        message = "the statement is nested too deeply"
        raise syntax_error(message, sql, tokens[0].start, tokens[0].end + 1, help) from None


def _depth(tree: exp.Expr) -> int:
    """How many levels a tree has."""
    level, depth = [tree], 0
    while level:
        level = [part for node in level for part in node.iter_expressions()]
        depth += 1
    return depth
