"""Parsing of what streams promise: ranges of values, and how often an object comes."""

from __future__ import annotations

from typing import Final

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from tidemill.sql.nodes import AtMost, CreateSource, RowCount, ValueRange
from tidemill.sql.relations import RelationParser

__all__ = ["PromiseParser"]

_RANGE_HELP: Final = "write for example value DOUBLE BETWEEN 0 AND 1"
_MOST_HELP: Final = "write for example AT MOST 1 PER id"
_AHEAD_HELP: Final = "write for example AT MOST 5 MINUTES AHEAD"


class PromiseParser(RelationParser):
    """Promises in CREATE STREAM."""

    def _parse_value_range(self) -> ValueRange | None:
        token = self._curr
        if not self._match(TokenType.BETWEEN):
            return None
        low = self._parse_limit_of_range()
        if not self._match(TokenType.AND):
            self.fail(f"expected AND, found {self.found()}", help=_RANGE_HELP)
        high = self._parse_limit_of_range()
        clipped = bool(self._match_text_seq("CLIPPED"))
        return self.expression(ValueRange(this=low, expression=high, clipped=clipped), token)

    def _parse_limit_of_range(self) -> exp.Expr:
        token = self._curr
        value = self._parse_unary() if token else None
        literal = value.this if isinstance(value, exp.Neg) else value
        if value is None or not isinstance(literal, exp.Literal) or literal.is_string:
            self.fail("a range has a number at each end", token, _RANGE_HELP)
        return value

    def _parse_at_most(self, node: CreateSource) -> None:
        token = self._curr
        if not self._match_text_seq("AT", "MOST"):
            return
        if self._is_ahead():
            self._parse_ahead(node, token)
            return
        if node.args.get("at_most"):
            self.fail("AT MOST ... PER is there twice", token, _MOST_HELP)
        number = self._curr
        if not self._match(TokenType.NUMBER) or not number.text.isdecimal() or not int(number.text):
            self.fail("AT MOST takes a number of rows", number, _MOST_HELP)
        rows = RowCount(this=exp.Literal.number(number.text).update_positions(number))
        self.expect("PER", help=_MOST_HELP)
        columns = self._parse_csv(lambda: self._parse_column_name("PER"))
        most = AtMost(this=rows, expressions=columns)
        if self._match_text_seq("WITHIN"):
            most.set("within", self._parse_duration("WITHIN"))
        node.set("at_most", self.expression(most, token))

    def _is_ahead(self) -> bool:
        """Whether this is AT MOST duration AHEAD, and no number of rows."""
        words = self._tokens[self._index : self._index + 3]
        return any(word.text.upper() == "AHEAD" for word in words)

    def _parse_ahead(self, node: CreateSource, token: Token | None) -> None:
        if node.args.get("ahead"):
            self.fail("AT MOST ... AHEAD is there twice", token, _AHEAD_HELP)
        node.set("ahead", self._parse_duration("AT MOST", zero=True))
        self.expect("AHEAD", help=_AHEAD_HELP)
