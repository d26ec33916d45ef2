"""Results as a table of PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tidemill.connectors.sinks.forms import SNAPSHOT_AT, Shape
from tidemill.errors import ExecutionError


class DatabaseSink:
    """Keeps a table equal to the newest snapshot, or adds the rows of every tick to it, once.

    `identity` names the writer: a query together with its checkpoint.
    """

    def __init__(self, shape: Shape, options: Mapping[str, Any], identity: str) -> None:
        try:  # not everyone has PostgreSQL
            from tidemill.connectors.postgres import PostgresSink
        except ModuleNotFoundError as error:
            help = "pip install 'tidemill[postgres]'"
            raise ExecutionError(f"PostgreSQL needs the package {error.name}", help=help) from None
        self._shape = shape
        # The time of a snapshot would change every row with every tick.
        self._left_out = [SNAPSHOT_AT] if shape.is_whole else []
        columns = shape.columns.empty_table().drop_columns(self._left_out).schema
        self._sink = PostgresSink(options, identity, columns, shape.is_whole)

    @property
    def form(self) -> str:
        return self._shape.form

    def give(self, rows: pl.DataFrame, tick: int) -> None:
        """Write a tick in one transaction, unless it is written."""
        self._sink(self._shape(rows).drop_columns(self._left_out), tick)
