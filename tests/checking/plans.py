"""Hold plans against the reference, at every instant at which anything can change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import polars as pl
import pyarrow as pa

from tests.checking.contract import Contract
from tests.checking.sources import (
    changing_source,
    relation_source,
    run_to_the_end,
    stream_source,
)
from tests.random.data import TIME, RandomStream, to_table
from tests.random.versions import (
    FROM,
    TO,
    Version,
    arriving,
    known_changes,
    version_table,
)
from tidemill.algebra import Plan
from tidemill.algebra.unnest import ONE_ROW, one_row_table
from tidemill.connectors.change_source import DELETED, INSERTED
from tidemill.optimize import optimize
from tidemill.physical.lowering import lower
from tidemill.physical.operator import empty_batch
from tidemill.reference import LogicalStream, SourceData
from tidemill.runtime.sources import Source, StreamSource
from tidemill.store import Store
from tidemill.testing.reference import NO_FUNCTIONS, Functions, check_result, reference


@dataclass(frozen=True)
class Inputs:
    """What the sources of a query hold: streams in ticks, constant and other relations.

    `arrival` tells in which ticks changes come: it is a seed.
    """

    streams: Mapping[str, RandomStream]
    relations: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    temporal: Mapping[str, Sequence[Version]] = field(default_factory=dict)
    changing: Mapping[str, Sequence[Version]] = field(default_factory=dict)
    arrival: int = 0

    def accepted(self) -> dict[str, SourceData]:
        """The rows as the reference wants them, without the late ones."""
        streams = {
            name: [(row, row[TIME]) for row in stream.in_time()]
            for name, stream in self.streams.items()
        }
        return {**streams, **self.relations, **self.temporal, **self.changing}

    def sources(self, store: Store | None = None, retain: int | None = None) -> dict[str, Source]:
        """Fresh readings of all sources; streams may be kept for queries that begin later."""
        found: dict[str, Source] = {
            name: _source(name, stream, store, retain) for name, stream in self._streams().items()
        }
        found[ONE_ROW] = relation_source(ONE_ROW, one_row_table())
        for name, rows in self.relations.items():
            found[name] = relation_source(name, relation_table(rows))
        for name, versions in self.temporal.items():
            table = version_table(known_changes(versions))
            found[name] = relation_source(name, table, (FROM, TO))
        random = Random(self.arrival)
        for name, versions in self.changing.items():
            ticks = arriving(versions, list(self.streams.values()), random)
            tables = [version_table(tick, (INSERTED, DELETED)) for tick in ticks]
            found[name] = changing_source(name, tables)
        return found

    def _streams(self) -> Mapping[str, RandomStream]:
        """No stream may end while there are changes to come: some get ticks without rows."""
        if not self.changing:
            return self.streams
        most = max(len(stream.ticks) for stream in self.streams.values())
        return {
            name: replace(stream, ticks=stream.ticks + ((),) * (most - len(stream.ticks)))
            for name, stream in self.streams.items()
        }

    def __str__(self) -> str:
        lines = [f"{name}:\n{stream}" for name, stream in self.streams.items()]
        for name, rows in self.relations.items():
            lines.append("\n".join([f"{name}, constant:", *(f"  {dict(row)}" for row in rows)]))
        for name, versions in {**self.temporal, **self.changing}.items():
            held = [f"  [{start}, {end}) {dict(row)}" for row, start, end in versions]
            lines.append("\n".join([f"{name}:", *held]))
        return "\n".join(lines)


def _source(
    name: str, stream: RandomStream, store: Store | None, retain: int | None
) -> StreamSource:
    tables = stream_tables(stream)
    return stream_source(name, tables, TIME, stream.slack, store, retain, stream.ahead)


def stream_tables(stream: RandomStream) -> list[pa.Table]:
    """The ticks of a stream; one that brings nothing has columns all the same."""
    return list(stream.tables) or [to_table(())]


def relation_table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """The rows of a relation as a table; they have no time."""
    return to_table(tuple({**row, TIME: None} for row in rows)).drop_columns([TIME])


def check_plan(
    plan: Plan,
    inputs: Inputs,
    functions: Functions = NO_FUNCTIONS,
    rewrite: Callable[[Plan], Plan] = optimize,
) -> pa.Table:
    """Fail unless the plan, rewritten and run tick by tick, gives the snapshots of the reference.

    The operators are held to their contract on the way, and late rows are counted exactly.
    Returns the rows of the result with their validity.
    """
    result = run_plan(plan, inputs, functions, rewrite)
    check_result(result, reference_of(plan, inputs, functions))
    return result


def run_plan(
    plan: Plan,
    inputs: Inputs,
    functions: Functions = NO_FUNCTIONS,
    rewrite: Callable[[Plan], Plan] = optimize,
) -> pa.Table:
    """All rows that the plan puts out over the whole input, their ends as integers."""
    contract, late = Contract(), dict[str, int]()
    physical = contract.on(lower(rewrite(plan), dict(functions)))
    batches = run_to_the_end(physical, inputs.sources(), late=late)
    result = pl.concat([empty_batch(plan.schema), *batches])
    contract.check_end()
    _check_late(inputs, late)
    return result.to_arrow()


def run_in_partitions(
    plan: Plan,
    inputs: Inputs,
    partitions: int,
    functions: Functions = NO_FUNCTIONS,
    rewrite: Callable[[Plan], Plan] = optimize,
) -> pa.Table:
    """The same, in partitions, with parcels that travel as bytes."""
    late: dict[str, int] = {}
    physical = lower(rewrite(plan), dict(functions))
    batches = run_to_the_end(physical, inputs.sources(), partitions, packs=True, late=late)
    result = pl.concat([empty_batch(plan.schema), *batches])
    _check_late(inputs, late)
    return result.to_arrow()


def _check_late(inputs: Inputs, late: Mapping[str, int]) -> None:
    for name, found in late.items():
        if name in inputs.streams:
            wanted = inputs.streams[name].late_rows
            assert found == wanted, f"{found} late rows of {name} were counted, not {wanted}"


def reference_of(plan: Plan, inputs: Inputs, functions: Functions = NO_FUNCTIONS) -> LogicalStream:
    """The snapshots of the plan up to an instant after which nothing changes any more."""
    return reference(plan, inputs.accepted(), functions)
