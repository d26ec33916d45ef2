"""The sqlglot dialect of Tidemill: Spark's, with windows and streams."""

from __future__ import annotations

from sqlglot.dialects.spark import Spark
from sqlglot.tokens import Token, TokenType

from tidemill.sql.generator import TidemillGenerator
from tidemill.sql.hints import open_hints
from tidemill.sql.telling import TellingParser
from tidemill.sql.window_tables import open_window_calls

__all__ = ["Tidemill"]


class _Tokenizer(Spark.Tokenizer):
    """Spark's tokenizer, which also looks into hints, and takes two quotes in a text for one."""

    STRING_ESCAPES = [*Spark.Tokenizer.STRING_ESCAPES, "'", '"']
    # sqlglot takes what follows these words for a text.
    KEYWORDS = {k: v for k, v in Spark.Tokenizer.KEYWORDS.items() if k != "EXPLAIN"}
    COMMANDS = Spark.Tokenizer.COMMANDS - {TokenType.SHOW}

    def tokenize(self, sql: str) -> list[Token]:
        tokens = open_hints(sql, super().tokenize(sql), Spark.Tokenizer().tokenize)
        return list(open_window_calls(list(tokens)))


class Tidemill(Spark):
    """Spark SQL with CQL's windows.

    >>> import sqlglot
    >>> tree = sqlglot.parse_one("SELECT * FROM bid [ROWS 5] AS b", dialect=Tidemill)
    >>> tree.sql(dialect=Tidemill)
    'SELECT * FROM bid AS b WINDOW(ROWS 5)'
    """

    Tokenizer = _Tokenizer
    Parser = TellingParser
    Generator = TidemillGenerator
