"""Run logical plans on the physical operators, with the data that the reference takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl
import pyarrow as pa

from tests.checking.sources import relation_source, run_to_the_end, stream_source
from tidemill.algebra import Plan, Scan, SourceKind
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec, empty_batch
from tidemill.reference import SourceData
from tidemill.runtime.sources import Source
from tidemill.timeline import OPEN_END

START, END = "#start", "#end"


def run_plan(plan: Plan, sources: Mapping[str, SourceData], rows_per_tick: int) -> pl.DataFrame:
    """All results of a logical plan whose sources bring so many rows per tick."""
    return run_exec(lower(plan, {}), sources, rows_per_tick)


def run_exec(plan: Exec, sources: Mapping[str, SourceData], rows_per_tick: int) -> pl.DataFrame:
    """All results of a physical plan."""
    scans = {node.scan for node in plan.walk() if hasattr(node, "scan")}
    found = {scan.source: source(scan, sources[scan.source], rows_per_tick) for scan in scans}
    return pl.concat([empty_batch(plan.schema), *run_to_the_end(plan, found)])


def source(scan: Scan, data: SourceData, rows_per_tick: int) -> Source:
    """A source in ticks of so many rows."""
    records = [_record(scan, element) for element in data]
    types = {field.name: field.type for field in scan.columns}
    schema = pa.schema([*types.items(), (START, pa.int64()), (END, pa.int64())])
    cuts = range(0, max(len(records), 1), rows_per_tick)
    tables = [pa.Table.from_pylist(records[n : n + rows_per_tick], schema) for n in cuts]
    if scan.kind is SourceKind.STREAM:
        return stream_source(scan.source, tables, START)
    valid = (START, END) if scan.kind is SourceKind.INTERVALS else None
    return relation_source(scan.source, pa.concat_tables(tables), valid)


def _record(scan: Scan, element: Any) -> dict[str, Any]:
    if scan.kind is SourceKind.CONSTANT:
        return dict(element)
    values, start, *end = element
    return {**values, START: start, END: end[0] if end else None}


def as_elements(batch: pl.DataFrame) -> list[list[Any]]:
    """Results in the form of the examples: [tuple, start, end], in a fixed order."""
    found = []
    for *values, start, end in batch.iter_rows():
        value = values[0] if len(values) == 1 else values
        found.append([value, start, "inf" if end == OPEN_END else end])
    return in_order(found)


def in_order(elements: Iterable[list[Any]]) -> list[list[Any]]:
    """Elements by start; the order among equal starts is free, so it is fixed here."""
    return sorted(elements, key=lambda element: (element[1], str(element[2]), str(element[0])))
