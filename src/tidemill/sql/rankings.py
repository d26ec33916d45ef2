"""Parsing of OBJECTS(...) in FROM, of APPROXIMATE, and of streams by name in UNION."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from sqlglot import exp
from sqlglot.tokens import TokenType

from tidemill.sql.nodes import Approximate, ObjectsClause, StreamFunction
from tidemill.sql.shedding import SheddingParser

__all__ = ["RankingParser"]

_HELP: Final = "write OBJECTS(a, b BY id) WINDOW(RANGE 100)"
_CONFIDENCE_HELP: Final = "write LIMIT 10 APPROXIMATE or LIMIT 10 APPROXIMATE(confidence => 0.6)"
_SET_OPERATIONS: Final = frozenset({TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT})


class RankingParser(SheddingParser):
    """What makes rankings of objects short to write."""

    def _parse_table(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        if not self._at_objects():
            return super()._parse_table(*args, **kwargs)
        this: exp.Expr = self.expression(exp.Table(this=self._parse_objects()))
        alias_tokens: Collection[TokenType] | None = kwargs.get("alias_tokens")
        self._parse_stream_clauses(this, alias_tokens)
        for join in self._parse_joins(alias_tokens=alias_tokens) if kwargs.get("joins") else ():
            this.append("joins", join)
        return this

    def _at_objects(self) -> bool:
        is_call = self._next.token_type == TokenType.L_PAREN
        return is_call and self._match_text_seq("OBJECTS", advance=False) is True

    def _parse_objects(self) -> ObjectsClause:
        token = self._curr
        self._advance(2)
        streams = self._parse_csv(self._parse_table)
        if not streams:
            self.fail(f"OBJECTS takes streams, found {self.found()}", help=_HELP)
        self.expect("BY", help=_HELP)
        keys = self._parse_csv(lambda: self._parse_column_name("BY"))
        self.expect_token(TokenType.R_PAREN, ")", _HELP)
        return self.expression(ObjectsClause(expressions=streams, by=keys), token)

    def _parse_table_alias(
        self, alias_tokens: Collection[TokenType] | None = None
    ) -> exp.TableAlias | None:
        if self._match_text_seq("BY", advance=False):
            return None  # of OBJECTS
        return super()._parse_table_alias(alias_tokens)

    def _parse_query_modifiers(self, this: Any) -> Any:
        this = super()._parse_query_modifiers(this)
        if isinstance(this, exp.Query) and this.args.get("limit"):
            token = self._curr
            if self._match_text_seq("APPROXIMATE"):
                this.set("approximate", self.expression(self._parse_approximate(), token))
        return this

    def _parse_approximate(self) -> Approximate:
        if not self._match(TokenType.L_PAREN):
            return Approximate()
        if not self._match_text_seq("CONFIDENCE") or not self._match(TokenType.FARROW):
            self.fail(f"APPROXIMATE has no parameter {self.found()}", help=_CONFIDENCE_HELP)
        value = self._curr
        if not self._match(TokenType.NUMBER) or not float(value.text) <= 1:
            self.fail("confidence is a number between 0 and 1", value, _CONFIDENCE_HELP)
        self.expect_token(TokenType.R_PAREN, ")", _CONFIDENCE_HELP)
        return Approximate(confidence=exp.Literal.number(value.text).update_positions(value))

    def _parse_select(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        is_operand = kwargs.get("nested") and not kwargs.get("table") and self._at_name()
        if not is_operand or not self._after_set_operation():
            return super()._parse_select(*args, **kwargs)
        return _all_of(self._parse_table())

    def _after_set_operation(self) -> bool:
        before, earlier = self._prev.token_type, self.peek(-2).token_type
        if before in (TokenType.ALL, TokenType.DISTINCT):
            before = earlier
        return before in _SET_OPERATIONS

    def _at_name(self) -> bool:
        is_name = self._curr.token_type in self.ID_VAR_TOKENS | {TokenType.IDENTIFIER}
        return is_name and not self._at_stream_function()

    def parse_set_operation(
        self, this: exp.Expr | None, consume_pipe: bool = False, intersect_only: bool = False
    ) -> exp.SetOperation | None:
        """Parse UNION, EXCEPT, INTERSECT; a name stands for all rows of the stream."""
        is_operation = self._curr.token_type in _SET_OPERATIONS
        if is_operation and isinstance(this, exp.Table) and isinstance(this.this, exp.Identifier):
            this = _all_of(this)
        return super().parse_set_operation(this, consume_pipe, intersect_only)


def _all_of(table: exp.Expr | None) -> exp.Expr | None:
    """SELECT * FROM a table."""
    if not isinstance(table, exp.Table) or isinstance(table.this, StreamFunction):
        return table
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=table))
