"""The sqlglot dialect of Tidemill: Spark's, with windows and streams."""

from __future__ import annotations

from sqlglot.dialects.spark import Spark
from sqlglot.tokens import Token

from tidemill.sql.generator import TidemillGenerator
from tidemill.sql.hints import open_hints
from tidemill.sql.queries import CommandParser

__all__ = ["Tidemill"]


class _Tokenizer(Spark.Tokenizer):
    """Spark's tokenizer, which also looks into hints, and takes two quotes in a text for one."""

    STRING_ESCAPES = [*Spark.Tokenizer.STRING_ESCAPES, "'", '"']

    def tokenize(self, sql: str) -> list[Token]:
        return list(open_hints(sql, super().tokenize(sql), Spark.Tokenizer().tokenize))


class Tidemill(Spark):
    """Spark SQL with CQL's windows.

    >>> import sqlglot
    >>> tree = sqlglot.parse_one("SELECT * FROM bid [ROWS 5] AS b", dialect=Tidemill)
    >>> tree.sql(dialect=Tidemill)
    'SELECT * FROM bid AS b WINDOW(ROWS 5)'
    """

    Tokenizer = _Tokenizer
    Parser = CommandParser
    Generator = TidemillGenerator
