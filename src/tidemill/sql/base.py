"""What all parts of the parser share: failing with a position, and looking ahead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.parser import SENTINEL_NONE
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokens import Token, TokenType

from tidemill.errors import SqlSyntaxError
from tidemill.sql.source import Source

__all__ = ["BaseParser", "LocatedParseError", "syntax_error"]

T = TypeVar("T")

_CONSTANTS = frozenset({TokenType.NUMBER, TokenType.STRING})
_BEGINNINGS = _CONSTANTS | {TokenType.VAR, TokenType.IDENTIFIER}
_ENDS = frozenset({TokenType.COMMA, TokenType.R_PAREN})


class LocatedParseError(ParseError):
    """A parse error of sqlglot that knows its token; `at_end` when the text ended too early."""

    def __init__(self, message: str, token: Token, at_end: bool) -> None:
        super().__init__(message, [{"description": message, "line": token.line}])
        self.message = message
        self.token = token
        self.at_end = at_end


def syntax_error(
    message: str, sql: str, start: int, end: int, help: str | None = None
) -> SqlSyntaxError:
    """Build the error that points at `sql[start:end]`."""
    place = Source(sql).position(start, end)
    return SqlSyntaxError(
        message, line=place.line, column=place.column, length=place.length, help=help, sql=sql
    )


def _positioned(parser: Callable[[Any, Token], Any]) -> Callable[[Any, Token], Any]:
    """Make a parser of literals record where the literal stands (TRUE, NULL, ...)."""

    def parse(self: Any, token: Token) -> Any:
        node = parser(self, token)
        if isinstance(node, exp.Expr) and "start" not in node.meta:
            node.update_positions(token)
        return node

    return parse


def _positioned_placeholder(parser: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Do the same for parsers of placeholders, which look at the previous token."""
    return lambda self: _positioned(lambda inner, _: parser(inner))(self, self._prev)


class BaseParser(SparkParser):
    """Spark's parser with strict casts and located errors."""

    STRICT_CAST = True

    PRIMARY_PARSERS = {k: _positioned(v) for k, v in SparkParser.PRIMARY_PARSERS.items()}

    PLACEHOLDER_PARSERS = {
        k: _positioned_placeholder(v) for k, v in SparkParser.PLACEHOLDER_PARSERS.items()
    }

    def raise_error(self, message: str, token: Token = SENTINEL_NONE) -> None:
        """Raise sqlglot's own complaint; it may be caught where the parser tries alternatives."""
        place = token or self._curr or self._prev or Token.string("")
        raise LocatedParseError(message, place, at_end=not token and not self._curr)

    def fail(
        self,
        message: str,
        token: Token | None = None,
        help: str | None = None,
        last: Token | None = None,
    ) -> NoReturn:
        """Raise an error that no alternative can mend: at a token, up to `last`, or right here."""
        place = token or self._curr
        if place:
            end = (last or place).end + 1
            raise syntax_error(message, self.sql, place.start, end, help)
        after = self._prev.end + 1 if self._prev else 0
        raise syntax_error(message, self.sql, after, after + 1, help)

    def found(self) -> str:
        """Name the current token for a message."""
        if not self._curr:
            return "the end of the statement"
        return f"`{self.sql[self._curr.start : self._curr.end + 1]}`"

    def peek(self, offset: int) -> Token:
        """Look at the token `offset` places ahead."""
        index = self._index + offset
        return self._tokens[index] if index < len(self._tokens) else SENTINEL_NONE

    def expect(self, *texts: str, help: str | None = None) -> None:
        """Require keywords."""
        if not self._match_text_seq(*texts):
            self.fail(f"expected {' '.join(texts)}, found {self.found()}", help=help)

    def expect_token(self, token_type: TokenType, text: str, help: str | None = None) -> None:
        """Require a punctuation mark."""
        if not self._match(token_type):
            self.fail(f"expected `{text}`, found {self.found()}", help=help)

    def _parse_function(
        self,
        functions: dict[str, Callable[..., Any]] | None = None,
        anonymous: bool = False,
        optional_parens: bool = True,
        any_token: bool = False,
    ) -> exp.Expr | None:
        # sqlglot notes the place of plain functions, not that of CAST, CASE and their like.
        token = self._curr
        this = super()._parse_function(functions, anonymous, optional_parens, any_token)
        if this is not None and "start" not in this.meta:
            this.update_positions(token)
        return this

    def _parse_select_or_expression(self, alias: bool = False) -> exp.Expr | None:
        # A constant between two commas is all there is: to ask thirty parsers takes a long time
        # in lists of thousands.
        plain = self._curr and self._curr.token_type in _CONSTANTS
        if plain and self._next and self._next.token_type in _ENDS:
            return self._parse_primary()
        return super()._parse_select_or_expression(alias)

    def _parse_csv(
        self, parse_method: Callable[[], T | None], sep: TokenType = TokenType.COMMA
    ) -> list[T]:
        # sqlglot lets a list end in a comma; that hides a missing item, so it is refused here.
        items = [item for item in [parse_method()] if item is not None]
        while self._match(sep):
            comma = self._prev
            if items and isinstance(items[-1], exp.Expr):
                self._add_comments(items[-1])
            item = parse_method()
            if item is None and self._curr and self._curr.token_type in _BEGINNINGS:
                break  # no list of types, as ARRAY(NULL, 1) is: the parser tries something else
            if item is None:
                self.raise_error(f"unexpected comma before {self.found()}", comma)
            else:
                items.append(item)
        return items
