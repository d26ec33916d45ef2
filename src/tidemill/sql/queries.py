"""Parsing of statements about queries that run: START, STOP, ALTER QUERY."""

from __future__ import annotations

from typing import Final

from sqlglot import exp
from sqlglot.tokens import TokenType

from tidemill.sql.ddl import StatementParser
from tidemill.sql.nodes import AlterNamed, CommandQuery

__all__ = ["CommandParser"]

_COMMANDS: Final = ("START", "STOP")


class CommandParser(StatementParser):
    """Queries that come, change and go."""

    STATEMENT_PARSERS = {
        **StatementParser.STATEMENT_PARSERS,
        TokenType.ALTER: lambda self: self._parse_alter_query(),
    }

    def _parse_statement(self) -> exp.Expr | None:
        if self._curr and self._next and self._match_texts(_COMMANDS, advance=False):
            return self._parse_query_command()
        return super()._parse_statement()

    def _parse_query_command(self) -> exp.Expr:
        verb = self._curr.text.upper()
        self._advance()
        self.expect("QUERY", help=f"write {verb} QUERY name")
        exists = self._parse_if_exists()
        name = self._parse_name("QUERY")
        partial = verb == "START" and bool(self._match_text_seq("PARTIAL"))
        return self.expression(CommandQuery(verb=verb, this=name, partial=partial, exists=exists))

    def _parse_alter_query(self) -> exp.Expr:
        self.expect("QUERY", help="write ALTER QUERY name AS SELECT ...")
        exists = self._parse_if_exists()
        name = self._parse_name("QUERY")
        if self._match_text_seq("OPTIMIZE"):
            return self.expression(AlterNamed(this=name, exists=exists))
        help = f"write ALTER QUERY {name.name} AS SELECT ..., or ALTER QUERY {name.name} OPTIMIZE"
        self.expect("AS", help=help)
        query = self._parse_definition()
        return self.expression(AlterNamed(this=name, expression=query, exists=exists))
