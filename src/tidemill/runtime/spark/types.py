"""Types of Arrow as Spark names them."""

from __future__ import annotations

import pyarrow as pa

from tidemill.algebra.types import name_of


def spark_type(kind: pa.DataType) -> str:
    """The name of a type in Spark; timestamps have no zone inside the engine.

    >>> spark_type(pa.timestamp("us"))
    'TIMESTAMP_NTZ'
    """
    return name_of(kind).replace("TIMESTAMP", "TIMESTAMP_NTZ")


def columns_ddl(schema: pa.Schema) -> str:
    """The columns of a table, as Spark declares them.

    >>> columns_ddl(pa.schema({"a b": pa.int64()}))
    '`a b` BIGINT'
    """
    return ", ".join(f"{quoted(field.name)} {spark_type(field.type)}" for field in schema)


def quoted(name: str) -> str:
    """The name of a column, as Spark takes it literally."""
    return f"`{name.replace('`', '``')}`"
