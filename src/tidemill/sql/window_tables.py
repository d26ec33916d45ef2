"""Parsing of windows as others write them: TUMBLE, HOP, CUMULATE and SESSION, `window(...)`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from tidemill.sql.hints import HintParser
from tidemill.sql.nodes import WindowTable

__all__ = ["WindowTableParser", "open_window_calls"]

_SIZES: Final = {
    "TUMBLE": ("SIZE",),
    "HOP": ("SLIDE", "SIZE"),
    "CUMULATE": ("STEP", "SIZE"),
    "SESSION": ("GAP",),
}
_SHAPES: Final = {
    "TUMBLE": "TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' MINUTES)",
    "HOP": "HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)",
    "CUMULATE": "CUMULATE(TABLE bid, DESCRIPTOR(ts), INTERVAL '2' MINUTES, INTERVAL '10' MINUTES)",
    "SESSION": "SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(ts), INTERVAL '10' MINUTES)",
}
_BEFORE_EXPRESSIONS: Final = frozenset(
    {
        *(TokenType.SELECT, TokenType.DISTINCT, TokenType.COMMA, TokenType.L_PAREN),
        *(TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.WHERE, TokenType.HAVING),
        *(TokenType.AND, TokenType.OR, TokenType.NOT),
    }
)


def open_window_calls(tokens: Sequence[Token]) -> Iterator[Token]:
    """Tokens in which `window` is a plain name where an expression begins.

    Everywhere else it is the word before the window of a stream.
    """
    before: TokenType | None = None
    for token in tokens:
        kind = token.token_type
        if kind is TokenType.WINDOW and before in _BEFORE_EXPRESSIONS:
            yield Token(TokenType.VAR, token.text, token.line, token.col, token.start, token.end)
        else:
            yield token
        before = kind


class WindowTableParser(HintParser):
    """FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) and its like."""

    FUNC_TOKENS = HintParser.FUNC_TOKENS | {TokenType.SESSION}

    def _at_window_table(self) -> bool:
        named = self.peek(2) if self._match(TokenType.TABLE, advance=False) else self._curr
        return bool(named) and named.text.upper() in _SHAPES and self._opens(named)

    def _opens(self, named: Token) -> bool:
        """Whether a table follows, as it does in no function of the user's."""
        inside = 3 if named is self._curr else 5
        starts = [self.peek(inside - 1), self.peek(inside)]
        is_call = self.peek(inside - 2).token_type is TokenType.L_PAREN
        return is_call and (
            starts[0].token_type in (TokenType.TABLE, TokenType.L_PAREN)
            or starts[1].token_type in (TokenType.FARROW, TokenType.COMMA)
        )

    def _parse_window_table(self) -> WindowTable:
        wrapped = self._match(TokenType.TABLE)
        if wrapped:
            self.expect_token(TokenType.L_PAREN, "(", "write TABLE(TUMBLE(...))")
        token, kind = self._curr, self._curr.text.upper()
        self._advance(2)
        node = self._parse_window_arguments(kind)
        self.expect_token(TokenType.R_PAREN, ")", f"write {_SHAPES[kind]}")
        if wrapped:
            self.expect_token(TokenType.R_PAREN, ")", f"write TABLE({_SHAPES[kind]})")
        return self.expression(node, token)

    def _parse_window_arguments(self, kind: str) -> WindowTable:
        names = ["DATA", "TIMECOL", *_SIZES[kind]]
        needed = len(names)
        if kind != "SESSION":
            names.append("OFFSET")
        node = WindowTable(kind=kind)
        for place in range(len(names)):
            if place and not self._match(TokenType.COMMA):
                break
            name = self._parse_argument_name(names) or names[place]
            known = "size" if name == "GAP" else name.lower()
            node.set(known, self._parse_window_argument(kind, name))
            if name == "DATA" and self._match(TokenType.PARTITION_BY):
                node.set("partition_by", self._parse_session_keys(kind))
        for name in names[:needed]:
            if not node.args.get("size" if name == "GAP" else name.lower()):
                self.fail(f"{kind} lacks its {name}", help=f"write {_SHAPES[kind]}")
        return node

    def _parse_session_keys(self, kind: str) -> list[exp.Expr]:
        if kind != "SESSION":
            help = f"leave it out, and write GROUP BY the key: {_SHAPES[kind]}"
            self.fail(f"PARTITION BY does not go with {kind}", self._prev, help)
        if not self._match(TokenType.L_PAREN):
            keys = [self._parse_window_column()]
            # Another key stands behind a comma, and so does DESCRIPTOR.
            while self._curr.token_type is TokenType.COMMA and not self._at_descriptor():
                self._advance()
                keys.append(self._parse_window_column())
            return keys
        keys = self._parse_csv(self._parse_window_column)
        self.expect_token(TokenType.R_PAREN, ")", f"write {_SHAPES[kind]}")
        return keys

    def _at_descriptor(self) -> bool:
        return self._next.text.upper() in ("DESCRIPTOR", "TIMECOL")

    def _parse_argument_name(self, names: Sequence[str]) -> str | None:
        if self._next.token_type is not TokenType.FARROW:
            return None
        name = self._curr.text.upper()
        if name not in names:
            self.fail(
                f"unknown argument `{self._curr.text}`", help=f"arguments: {', '.join(names)}"
            )
        self._advance(2)
        return name

    def _parse_window_argument(self, kind: str, name: str) -> exp.Expr | None:
        if name == "DATA":
            self._match(TokenType.TABLE)
            return self._parse_table()
        if name == "TIMECOL":
            return self._parse_descriptor(kind)
        return self._parse_duration(name, zero=name == "OFFSET")

    def _parse_descriptor(self, kind: str) -> exp.Expr:
        shape = f"write {_SHAPES[kind]}"
        self.expect("DESCRIPTOR", help=shape)
        self.expect_token(TokenType.L_PAREN, "(", shape)
        column = self._parse_id_var(any_token=False)
        if column is None:
            self.fail(f"DESCRIPTOR takes the name of a column, found {self.found()}", help=shape)
        self.expect_token(TokenType.R_PAREN, ")", shape)
        return column
