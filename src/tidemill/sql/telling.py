"""Parsing of statements that only tell: SHOW, DESCRIBE, EXPLAIN."""

from __future__ import annotations

from typing import Final

from sqlglot import exp
from sqlglot.tokens import TokenType

from tidemill.errors import nearest
from tidemill.sql.elsewhere import EXPLAINED
from tidemill.sql.nodes import DescribeNamed, ExplainNamed, ShowNames
from tidemill.sql.queries import CommandParser

__all__ = ["TellingParser"]

LISTS: Final = ("TABLES", "STREAMS", "RELATIONS", "VIEWS", "QUERIES", "FUNCTIONS")
_NOUNS: Final = ("TABLE", "STREAM", "RELATION", "VIEW", "QUERY")
_WORDS: Final = ("SHOW", "DESCRIBE", "DESC", "EXPLAIN")
_LEVELS: Final = ("LOGICAL", "OPTIMIZED", "VERBOSE", "PHYSICAL", "STAGES", "COST")
_OTHER_LEVELS: Final = {"FORMATTED": "PHYSICAL", "EXTENDED": "VERBOSE"}


class TellingParser(CommandParser):
    """What there is, and how queries are computed."""

    def _parse_statement(self) -> exp.Expr | None:
        if not self._curr or not self._match_texts(_WORDS, advance=False):
            return super()._parse_statement()
        word = self._curr.text.upper()
        self._advance()
        if word == "SHOW":
            return self._parse_shown()
        return self._parse_explained() if word == "EXPLAIN" else self._parse_described()

    def _parse_shown(self) -> exp.Expr:
        if self._match(TokenType.CREATE):
            self._match_texts(_NOUNS)
            return self.expression(ShowNames(kind="CREATE", this=self._parse_name("object")))
        if self._match_texts(("COLUMNS",)):
            if not self._match_texts(("IN", "FROM")):
                self.fail(f"expected IN or FROM, found {self.found()}", help="write DESCRIBE name")
            return self._parse_described()
        if not self._match_texts(LISTS):
            near = nearest(self._curr.text, LISTS) if self._curr else None
            help = f"SHOW {', SHOW '.join(LISTS)}, SHOW CREATE name, DESCRIBE name"
            self.fail(
                f"SHOW cannot be followed by {self.found()}",
                help=f"did you mean `{near}`?" if near else f"write {help}",
            )
        return self.expression(ShowNames(kind=self._prev.text.upper()))

    def _parse_described(self) -> exp.Expr:
        if self._next:
            self._match_texts(_NOUNS)
        return self.expression(DescribeNamed(this=self._parse_name("object")))

    def _parse_explained(self) -> exp.Expr:
        analyze = bool(self._match_text_seq("ANALYZE"))
        level = "COST" if analyze else "LOGICAL"
        if not analyze and self._next and self._match_texts((*_LEVELS, *_OTHER_LEVELS)):
            level = self._prev.text.upper()
            level = _OTHER_LEVELS.get(level, level)
        elif not analyze:
            self._match_text_seq("PLAN", "FOR")
        if self._at_query():
            inner = self._parse_query()
            return self.expression(ExplainNamed(level=level, analyze=analyze, expression=inner))
        if self._next:
            self._match_texts(("QUERY",))
        token, name = self._curr, self._parse_name("query")
        if self._curr and (help := EXPLAINED.get(name.name.upper())):
            self.fail(f"there is no EXPLAIN {name.name.upper()}", token, help)
        return self.expression(ExplainNamed(level=level, analyze=analyze, this=name))
