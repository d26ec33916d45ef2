"""Results in the memory of the driver, to be looked at while the query runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from tidemill.errors import ExecutionError

_LIMIT = 1_000_000


class MemorySink:
    """Keeps the rows of all ticks, or those of the newest one, up to a limit."""

    def __init__(self, only_newest: bool, nothing: pa.Table, options: Mapping[str, Any]) -> None:
        self._only_newest = only_newest
        self._limit = int(options.get("limit", _LIMIT))
        self._empty = nothing
        self._ticks: dict[int, pa.Table] = {}

    def __call__(self, rows: pa.Table, tick: int) -> None:
        kept = {} if self._only_newest else self._ticks
        ticks = {**kept, tick: rows}
        count = sum(table.num_rows for table in ticks.values())
        if count > self._limit:
            raise ExecutionError(
                f"the sink memory is full: {count} rows, and its limit is {self._limit}",
                help="write to files, ask for form='snapshot', or give it a larger limit",
            )
        # One assignment: another thread may be reading.
        self._ticks = ticks

    def results(self) -> pa.Table:
        """All rows that are kept, in the order of the ticks."""
        ticks = self._ticks
        return pa.concat_tables([self._empty, *(ticks[tick] for tick in sorted(ticks))])
