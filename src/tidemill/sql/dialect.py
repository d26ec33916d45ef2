"""The sqlglot dialect of Tidemill: Spark's, with windows and streams."""

from __future__ import annotations

from sqlglot.dialects.spark import Spark

from tidemill.sql.ddl import StatementParser
from tidemill.sql.generator import TidemillGenerator

__all__ = ["Tidemill"]


class Tidemill(Spark):
    """Spark SQL with CQL's windows.

    >>> import sqlglot
    >>> tree = sqlglot.parse_one("SELECT * FROM bid [ROWS 5] AS b", dialect=Tidemill)
    >>> tree.sql(dialect=Tidemill)
    'SELECT * FROM bid AS b WINDOW(ROWS 5)'
    """

    Parser = StatementParser
    Generator = TidemillGenerator
