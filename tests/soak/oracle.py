"""What queries of the mix must answer at an instant: ordinary SQL over the rows that hold then."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from experiments.adapting.mix import ROW
from tidemill.graph.quality import SizeSetting
from tidemill.physical.adjusting import AdjustableExec
from tidemill.physical.operator import Exec
from tidemill.physical.operators.source import SourceExec

Windows = Mapping[tuple[str, int, int], str]
"""For windows of a query, by stream and bounds, the knob that sets their size."""

_WINDOW = re.compile(r"(s\d\d) WINDOW\(RANGE MIN (\d+), MAX (\d+)\)( GRANULARITY\([^)]*\))?")


def windows_of(plan: Exec) -> Windows:
    """The windows of a plan whose sizes change."""
    found = {}
    for node in plan.walk():
        if isinstance(node, AdjustableExec) and node.SIZE == "size" and node.bounds is not None:
            (leaf,) = (each for each in node.walk() if isinstance(each, SourceExec))
            found[leaf.scan.source, node.bounds.low, node.bounds.high] = node.knob
    return found


def answer(
    text: str,
    windows: Windows,
    histories: Mapping[str, Sequence[SizeSetting]],
    rows: Mapping[str, pa.Table],
    at: int,
) -> Counter[tuple[Any, ...]]:
    """The rows that the query gives at an instant of its granularities."""
    with duckdb.connect() as database:

        def table(found: re.Match[str]) -> str:
            stream, low, high = found[1], int(found[2]), int(found[3])
            name = f"{stream}_{low}_{high}"
            held = _holding(rows[stream], histories[windows[stream, low, high]], at)
            database.register(name, held)
            return f"{name} AS {stream}"

        sql = _WINDOW.sub(table, text)
        result = database.execute(sql).fetchall()
        is_total = text.startswith("SELECT") and "JOIN" not in text
        if is_total and not _any_rows(database, sql):
            return Counter()  # an aggregate of no rows has no answer
        return Counter(map(_comparable, result))


def _any_rows(database: duckdb.DuckDBPyConnection, sql: str) -> bool:
    counted = re.sub(r"SELECT .* AS x", "SELECT COUNT(*)", sql)
    found = database.execute(counted).fetchone()
    return found is not None and bool(found[0])


def _holding(rows: pa.Table, history: Sequence[SizeSetting], at: int) -> pa.Table:
    """The rows that hold at an instant: each has the size that was in force when it started."""
    starts = rows["at"].to_numpy()
    since = np.array([setting.since for setting in history])
    sizes = np.array([setting.size for setting in history])
    ends = starts + sizes[np.searchsorted(since, starts, side="right") - 1]
    return rows.filter((starts <= at) & (at < ends)).select(ROW.names[:-1])


def given(results: Sequence[pa.Table], at: int) -> Counter[tuple[Any, ...]]:
    """The rows of an answer that hold at an instant."""
    found: Counter[tuple[Any, ...]] = Counter()
    for table in results:
        start, end = (table[name].to_numpy() for name in ("valid_from", "valid_to"))
        held = table.filter((start <= at) & (at < end)).drop_columns(["valid_from", "valid_to"])
        found.update(_comparable(tuple(row.values())) for row in held.to_pylist())
    return found


def _comparable(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(value if value is None else round(float(value), 4) for value in row)
