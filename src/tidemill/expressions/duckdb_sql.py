"""Names and messages of DuckDB."""

from __future__ import annotations

import re
from functools import lru_cache

import pyarrow as pa
from sqlglot import exp
from sqlglot.expressions import DType

from tidemill.algebra.scalar import rewrite
from tidemill.algebra.types import name_of

_TIMESTAMPS = (DType.TIMESTAMPTZ, DType.TIMESTAMPLTZ)


@lru_cache(maxsize=1024)  # each number of a long IN asks
def duckdb_type(data_type: pa.DataType) -> str:
    """The DuckDB name of a column type.

    >>> duckdb_type(pa.list_(pa.int32())), duckdb_type(pa.timestamp("us"))
    ('INT[]', 'TIMESTAMP')
    """
    sql_type = exp.DataType.build(name_of(data_type), dialect="spark")
    return rewrite(sql_type, _without_time_zone).sql(dialect="duckdb")


def quoted(name: str) -> str:
    """A column name as DuckDB takes it literally.

    >>> print(quoted('a"b'))
    "a""b"
    """
    return exp.to_identifier(name, quoted=True).sql(dialect="duckdb")


def reason(error: Exception) -> str:
    """What DuckDB complains about, in one line.

    >>> reason(ValueError("Invalid Input Error: division by zero"))
    'division by zero'
    """
    return re.sub(r"^([A-Z][A-Za-z]* )+Error: ", "", str(error).splitlines()[0])


def _without_time_zone(node: exp.Expr) -> exp.Expr:
    # The session's time zone is UTC, so both kinds of timestamp hold the same microseconds.
    if isinstance(node, exp.DataType) and node.this in _TIMESTAMPS:
        return exp.DataType(this=DType.TIMESTAMP)
    return node
