"""From the text of a script to its statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, dropwhile
from typing import Final

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
    DescribeNamed,
    DropNamed,
    ExplainNamed,
    InsertRows,
    InsertSink,
    ShowNames,
    StreamFunction,
)
from tidemill.sql.parameters import Parameters, spliced
from tidemill.sql.settling import settle
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
_TELLING = (ShowNames, DescribeNamed, ExplainNamed)
_TREES = (exp.Query, StreamFunction, *_NAMED, *_CHANGES, *_TELLING)
DEEPEST = 450
"""Levels of a tree: what walks deeper ones takes its time, or comes to the end of the stack."""

_MOST_OPEN = 250
"""Parentheses inside each other: what reads more comes to the end of the stack."""

_MOST_QUERIES = 144
"""Queries inside each other, a SELECT for four of a UNION: planning takes far longer for each."""

_STEPS: Final = {
    **dict.fromkeys((TokenType.L_PAREN, TokenType.L_BRACKET), 1),
    **dict.fromkeys((TokenType.R_PAREN, TokenType.R_BRACKET), -1),
}
_UNSETTLED = (exp.Any, exp.All, exp.Anonymous, exp.Parameter)


def parse(sql: str, parameters: Parameters | None = None) -> list[Statement]:
    """Parse a script of statements separated by semicolons; `:name` and `?` get their values.

    >>> create, query = parse("CREATE STREAM s AS SELECT * FROM bid; SELECT * FROM s")
    >>> create.name, query.sql, query.position.column
    ('s', 'SELECT * FROM s', 39)
    """
    source, given = Source(sql, _tokenize(sql)), parameters or Parameters()
    found = [_parse_statement(tokens, source, given) for tokens in _split(source.tokens)]
    given.refuse_unused()
    return found


def parse_one(sql: str, parameters: Parameters | None = None) -> Statement:
    """Parse a text that holds exactly one statement."""
    statements = parse(sql, parameters)
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


def _parse_statement(tokens: list[Token], source: Source, parameters: Parameters) -> Statement:
    start, end = tokens[0].start, tokens[-1].end + 1
    tree = _parse_tree(tokens, source.text)
    if not isinstance(tree, _TREES) or isinstance(tree, exp.Table):
        help = "write for example SELECT * FROM bid"
        raise syntax_error("this is not a statement", source.text, start, end, help)
    values = parameters.filled(tree, source.text, tokens)
    settle(tree)
    attach_source(tree, source)
    _settle(tree)
    text = spliced(source.text[start:end], start, values)
    statement = statement_of(tree, text, source.position(start, tokens[0].end + 1), source)
    query = _query_start(statement, tokens)
    return replace(statement, query_sql=spliced(source.text[query:end], query, values))


def _query_start(statement: Statement, tokens: list[Token]) -> int:
    """Where the query of a statement begins; that is itself, if there is none."""
    if not isinstance(statement, CreateQuery | AlterQuery | InsertInto):
        return tokens[0].start
    rest = tokens
    if not isinstance(statement, InsertInto):  # CREATE QUERY q AS, ALTER QUERY q AS
        rest = list(dropwhile(lambda token: token.token_type is not TokenType.ALIAS, tokens))[1:]
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
            help = "write :name, and pass the value: sql(text, name=value)"
            raise error_at(SqlSyntaxError, "a parameter is written with a colon", node, help)


def _refuse_stream_function(node: exp.Anonymous) -> None:
    kind = node.name.upper()
    if kind in STREAM_FUNCTIONS:
        help = f"write {kind}(SELECT ...), SELECT {kind}(a, b) FROM ... or FROM {kind}(name)"
        message = f"{kind} applies to a whole query or to a name in FROM"
        raise error_at(SqlSyntaxError, message, node, help)


def _parse_tree(tokens: list[Token], sql: str) -> exp.Expr | None:
    try:
        if _most_open(tokens) > _MOST_OPEN:
            raise RecursionError
        tree = Tidemill().parser().parse(tokens, sql)[0]
        if tree is not None and _is_deep(flatten_conditions(tree)):
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


def _most_open(tokens: list[Token]) -> int:
    """How many parentheses and brackets are open at most."""
    steps = (_STEPS.get(token.token_type, 0) for token in tokens)
    return max(accumulate(steps), default=0)


def _is_deep(tree: exp.Expr) -> bool:
    """Whether a tree has too many levels, or queries inside each other."""
    level, depth = [(tree, 0)], 0
    while level and depth <= DEEPEST:
        if max(queries for _, queries in level) > _MOST_QUERIES:
            return True
        level = [
            (part, queries + _weight(part))
            for node, queries in level
            for part in node.iter_expressions()
        ]
        depth += 1
    return bool(level)


def _weight(node: exp.Expr) -> int:
    return 4 if isinstance(node, exp.Select) else int(isinstance(node, exp.SetOperation))
