"""Rows that are pushed into a stream that Spark reads: files in a folder."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class PushedFiles:
    """A folder with a file for every push; Spark reads each of them once.

    Without a `folder` of the user's it is a temporary one, which a restart does not find again.
    """

    def __init__(self, schema: pa.Schema, folder: str | None) -> None:
        self._schema = schema
        self._folder = Path(folder or tempfile.mkdtemp(prefix="tidemill-"))
        self._folder.mkdir(parents=True, exist_ok=True)

    def push(self, table: pa.Table) -> None:
        """Write rows to a file that is there whole or not at all."""
        name = f"{uuid4().hex}.parquet"
        hidden = self._folder / f".{name}"  # Spark does not look at such names
        pq.write_table(table, hidden)
        os.replace(hidden, self._folder / name)

    def frame(self, session: SparkSession) -> DataFrame:
        """The stream of all rows."""
        from tidemill.runtime.spark.native import spark_type

        columns = ", ".join(f"`{field.name}` {spark_type(field.type)}" for field in self._schema)
        return session.readStream.schema(columns).parquet(str(self._folder))
