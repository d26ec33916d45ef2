"""Parsing of INSERT INTO and DELETE FROM a relation."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokens import TokenType

from tidemill.sql.nodes import DeleteRows, InsertRows
from tidemill.sql.rankings import RankingParser

__all__ = ["RelationParser"]

_END = TokenType.R_PAREN
_INSERT_HELP = "write INSERT INTO relation VALUES (1, 'a'), ... or INSERT INTO format(...) SELECT"


class RelationParser(RankingParser):
    """Changes of relations while queries run."""

    def _at_rows(self) -> bool:
        """Whether `name VALUES` or `name (column, ...) VALUES` follows, and no connector."""
        if self.peek(1).token_type == TokenType.VALUES:
            return True
        ahead = 1
        if self.peek(1).token_type != TokenType.L_PAREN or self.peek(2).token_type == _END:
            return False
        while self.peek(ahead) and self.peek(ahead).token_type != _END:
            ahead += 1
        return self.peek(ahead + 1).token_type == TokenType.VALUES

    def _parse_insert_rows(self) -> exp.Expr:
        name = self._parse_id_var(any_token=False)
        columns: list[exp.Expr] = []
        if self._match(TokenType.L_PAREN, advance=False):
            columns = self._parse_wrapped_csv(self._parse_column_of_insert)
        if not self._match(TokenType.VALUES):
            self.fail(f"expected VALUES, found {self.found()}", help=_INSERT_HELP)
        rows = self._parse_csv(self._parse_row_of_values)
        if not rows:
            self.fail(f"expected a row, found {self.found()}", help=_INSERT_HELP)
        node = InsertRows(this=name, columns=columns, expressions=rows, at=self._parse_at())
        return self.expression(node)

    def _parse_column_of_insert(self) -> exp.Expr | None:
        return self._parse_id_var(any_token=False)

    def _parse_row_of_values(self) -> exp.Expr | None:
        token = self._curr
        if not self._match(TokenType.L_PAREN):
            return None
        values = self._parse_csv(self._parse_disjunction)
        self.expect_token(TokenType.R_PAREN, ")", "close the row with `)`")
        return self.expression(exp.Tuple(expressions=values), token)

    def _parse_delete_rows(self) -> exp.Expr:
        self.expect("FROM", help="write DELETE FROM relation WHERE ...")
        name = self._parse_id_var(any_token=False)
        if name is None:
            self.fail(f"expected the name of a relation, found {self.found()}")
        where = self._parse_disjunction() if self._match(TokenType.WHERE) else None
        return self.expression(DeleteRows(this=name, where=where, at=self._parse_at()))

    def _parse_at(self) -> exp.Expr | None:
        if not self._match_text_seq("AT"):
            return None
        instant = self._parse_unary()
        if instant is None:
            help = "write AT 5, or AT TIMESTAMP '2026-01-01 12:00:00'"
            self.fail(f"AT takes an instant, found {self.found()}", help=help)
        return instant
