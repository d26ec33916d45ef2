"""Turning the complaints of sqlglot into errors that help."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from sqlglot.errors import TokenError
from sqlglot.tokens import Token, TokenType

from tidemill.errors import SqlSyntaxError, nearest
from tidemill.sql.base import LocatedParseError, syntax_error
from tidemill.sql.elsewhere import find_foreign

__all__ = ["explain_parse_error", "explain_token_error"]

# fmt: off
_KEYWORDS: Final = (
    "SELECT", "DISTINCT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "JOIN", "LEFT",
    "RIGHT", "FULL", "INNER", "OUTER", "CROSS", "USING", "UNION", "EXCEPT", "INTERSECT", "WINDOW",
    "GRANULARITY", "BETWEEN", "LIKE", "CASE", "WHEN", "THEN", "ELSE", "SLIDE", "SOURCE",
    "ORDERED", "SLACK", "RETAIN", "VALID", "EXISTS",
)
# fmt: on
_PIPES: Final = (
    "there are SELECT, EXTEND, WHERE, AGGREGATE, DISTINCT, JOIN, ORDER BY, LIMIT and set operations"
)
_NEEDS_BY: Final = ("GROUP", "ORDER", "PARTITION")
_UNEXPECTED: Final = "Invalid expression / Unexpected token"
_PLAIN: Final = (
    TokenType.VAR,
    TokenType.IDENTIFIER,
    TokenType.NUMBER,
    TokenType.STRING,
    TokenType.L_PAREN,
)
_SET_OPERATIONS: Final = (TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT)
_PAIRS: Final = {
    TokenType.L_PAREN: TokenType.R_PAREN,
    TokenType.L_BRACKET: TokenType.R_BRACKET,
}


def explain_parse_error(
    error: LocatedParseError, tokens: Sequence[Token], sql: str
) -> SqlSyntaxError:
    """Say in plain words what the parser stumbled over, with a remedy where one is known."""
    token = error.token
    before = [t for t in tokens if t.start < token.start or error.at_end]
    if foreign := find_foreign([*before, token]):
        return _explain_foreign(*foreign, sql)
    if misspelt := _misspelt(error, before):
        return _explain_misspelt(misspelt, sql)
    shown = "the end of the statement" if error.at_end else f"`{_text(token, sql)}`"
    message, help = _describe(error.message, shown, before, token, sql)
    start, end = (token.end + 1, token.end + 2) if error.at_end else (token.start, token.end + 1)
    return syntax_error(message, sql, start, end, help)


def _explain_foreign(first: Token, last: Token, help: str, sql: str) -> SqlSyntaxError:
    start, end = first.start, last.end + 1
    return syntax_error(f"`{sql[start:end]}` is not supported", sql, start, end, help)


def _explain_misspelt(word: Token, sql: str) -> SqlSyntaxError:
    text = word.text.upper()
    if text in _NEEDS_BY:
        message, help = f"`{text}` lacks its BY", f"write {text} BY"
    else:
        near = nearest(text, _KEYWORDS)
        message, help = f"unknown keyword `{word.text}`", f"did you mean `{near}`?"
    return syntax_error(message, sql, word.start, word.end + 1, help)


def _text(token: Token, sql: str) -> str:
    return sql[token.start : token.end + 1]


def _misspelt(error: LocatedParseError, before: Sequence[Token]) -> Token | None:
    if error.message != _UNEXPECTED and not error.message.startswith("Expecting"):
        return None
    # An unknown word mostly passes as an alias, and the error shows at the word behind it.
    # A reserved word there stands where it should, and the word before it is a plain name.
    plain = error.token.token_type in _PLAIN and not error.at_end
    words = [*(before[-1:] if plain else ()), error.token]
    return next((word for word in words if _is_misspelt(word)), None)


def _is_misspelt(word: Token) -> bool:
    text = word.text.upper()
    near = nearest(text, _KEYWORDS, cutoff=0.74)
    wrong = near is not None and text not in (near, f"{near}S")
    return word.token_type == TokenType.VAR and (wrong or text in _NEEDS_BY)


def _describe(
    complaint: str, shown: str, before: Sequence[Token], token: Token, sql: str
) -> tuple[str, str | None]:
    opened = _last_open(before)
    if complaint == _UNEXPECTED:
        if token.token_type in _PAIRS.values() and opened is None:
            return f"unexpected {shown}", "nothing is open here: remove it"
        return f"unexpected {shown}", None
    if token.token_type in _SET_OPERATIONS and any(t.text.upper() == "VALUES" for t in before):
        return f"unexpected {shown}", "before it, write SELECT * FROM VALUES (1), (2)"
    if match := re.match(r"Expect(?:ing|ed) ([()\[\]])$", complaint):
        return f"expected `{match[1]}`, found {shown}", _unclosed(opened, match[1], sql)
    if complaint.startswith("Expected table name"):
        return f"expected a stream, a relation or a subquery, found {shown}", None
    if match := re.match(r"Required keyword: '(\w+)' missing for <class '.*\.(\w+)'>", complaint):
        return f"{_part(match[2])} is incomplete at {shown}", _unclosed(opened, "", sql)
    if complaint.startswith("Unsupported pipe"):
        return f"`|> {token.text}` is not supported", _PIPES
    if complaint.startswith("unexpected comma"):
        return complaint, "remove the comma, or write what should follow it"
    return complaint[:1].lower() + complaint[1:], None


def _part(name: str) -> str:
    clauses = ("Where", "Having", "From", "Join", "Union", "Except", "Intersect", "Limit")
    return name.upper() if name in clauses else "the expression"


def _last_open(tokens: Sequence[Token]) -> Token | None:
    stack: list[Token] = []
    for token in tokens:
        if token.token_type in _PAIRS:
            stack.append(token)
        elif stack and token.token_type == _PAIRS[stack[-1].token_type]:
            stack.pop()
    return stack[-1] if stack else None


def _unclosed(opened: Token | None, mark: str, sql: str) -> str | None:
    if opened is None or not mark:
        return None
    place = syntax_error("", sql, opened.start, opened.end + 1)
    bracket = _text(opened, sql)
    return f"the `{bracket}` at line {place.line}, column {place.column} is not closed"


def explain_token_error(error: TokenError, sql: str) -> SqlSyntaxError:
    """Find the quotation mark or comment that is never closed."""
    match = re.match(r"Missing (\S+) from \d+:(\d+)", str(error.__cause__ or error))
    if match:
        what = "name" if match[1] == "`" else "string"
        start = min(int(match[2]), len(sql) - 1)
        return syntax_error(
            f"the {what} is not closed", sql, start, start + 1, f"end it with {match[1]}"
        )
    comment = sql.rfind("/*")
    if comment >= 0 and "*/" not in sql[comment:]:
        return syntax_error(
            "the comment is not closed", sql, comment, comment + 2, "end it with */"
        )
    end = error.end if error.end is not None else len(sql)
    return syntax_error("this text cannot be read", sql, max(0, end - 1), end)
