"""Run plans and queries on Spark, and hold the answers against the reference."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pyarrow as pa
from pyspark.sql import SparkSession

import tidemill as tm
from tidemill.algebra import Plan, Scan, SourceKind
from tidemill.analyze import SourceInfo
from tidemill.errors import PlanWarning
from tidemill.fragments import Staged, stage_plans
from tidemill.physical.lowering import lower
from tidemill.physical.operator import empty_batch
from tidemill.reference import canonical_row
from tidemill.runtime.interface import Job, SinkRequest, StartRequest
from tidemill.runtime.spark.execution import SparkExecution
from tidemill.runtime.spark.reading import Origin
from tidemill.testing.check import Inputs, check_result, reference_of, relation_table, run_plan
from tidemill.testing.check_queries import engine_with, plan_of
from tidemill.testing.random_cases import PlanCase, QueryCase, plan_case, query_case
from tidemill.testing.random_data import TIME
from tidemill.testing.random_plans import COLUMNS
from tidemill.testing.random_splits import as_stream
from tidemill.timeline import TimeDomain

SCRIPTS = Path(__file__).parent / "scripts"


def make_case(kind: str, seed: int) -> tuple[Any, Plan, Mapping[str, Any]]:
    """The random case of a seed: the case, its logical plan, and its functions."""
    case = {"plans": plan_case, "queries": query_case}[kind](Random(seed))
    if isinstance(case, PlanCase):
        return case, case.plan, {}
    assert isinstance(case, QueryCase)
    engine = engine_with(case.inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanWarning)
        query = engine.sql(case.script)
    assert query is not None
    return case, plan_of(query), engine.catalog.functions


def staged_case(kind: str, seed: int) -> Staged:
    _, plan, functions = make_case(kind, seed)
    return stage_plans([lower(plan, dict(functions))])


def origins_of(inputs: Inputs) -> dict[str, Origin]:
    """The sources of a random case as Spark reads them."""
    origins = {}
    for name, stream in inputs.streams.items():
        info = SourceInfo(
            name=name,
            schema=COLUMNS,
            kind=SourceKind.STREAM,
            domain=TimeDomain.TICKS,
            time_column=TIME,
            time_type=pa.int64(),
            slack=stream.slack,
            bounded=True,
        )
        origins[name] = Origin(info, tables=stream.tables)
    for name, rows in inputs.relations.items():
        info = SourceInfo(
            name=name, schema=COLUMNS, kind=SourceKind.CONSTANT, domain=None, bounded=True
        )
        origins[name] = Origin(info, tables=[relation_table(rows)])
    return origins


def check_seed(session: SparkSession, kind: str, seed: int, partitions: int = 2) -> None:
    """Fail unless Spark, the in-process runtime and the reference agree on a random case."""
    case, plan, functions = make_case(kind, seed)
    try:
        physical = lower(plan, dict(functions))
        execution = SparkExecution(session, [Job(physical)], origins_of(case.inputs), partitions)
        found = pl.concat([empty_batch(plan.schema), *execution]).to_arrow()
        expected = reference_of(plan, case.inputs, functions)
        check_result(found, expected)
        inprocess = run_plan(plan, case.inputs, functions)
        assert dict(as_stream(found, expected.horizon)) == dict(
            as_stream(inprocess, expected.horizon)
        )
        for name, source in execution.progress.sources.items():
            if name in case.inputs.streams:
                assert source.late_rows == case.inputs.streams[name].late_rows, name
    except Exception as error:
        raise AssertionError(f"{kind}, seed {seed}\n\n{case}\n\n{error}") from error


def check_snapshots(session: SparkSession, kind: str, seed: int, partitions: int = 2) -> None:
    """Fail unless the snapshots of a random case are the reference's, at the end and before."""
    case, plan, functions = make_case(kind, seed)
    physical = lower(plan, dict(functions))
    ticks: dict[int, pa.Table] = {}
    sink = SinkRequest(lambda rows, tick: ticks.__setitem__(tick, rows), form="snapshot")
    jobs = [Job(physical, TimeDomain.TICKS, sink)]
    execution = SparkExecution(session, jobs, origins_of(case.inputs), partitions)
    execution.start(StartRequest(available_now=True)).await_termination()
    expected = reference_of(plan, case.inputs, functions)
    newest = newest_row(plan, case.inputs)
    for tick, table in ticks.items():
        rows = [canonical_row(row.values()) for row in table.to_pylist()]
        instants = {row[-1] for row in rows}
        at = newest if tick == max(ticks) else min(instants, default=None)
        assert instants <= {at}, f"{kind}, seed {seed}, tick {tick}"
        if instants or tick == max(ticks):
            wanted = expected.at(expected.horizon if at is None else at)
            assert Counter(row[:-1] for row in rows) == wanted, f"{kind}, seed {seed}, tick {tick}"


def newest_row(plan: Plan, inputs: Inputs) -> int | None:
    """The time of the newest row of the streams that the plan reads."""
    scanned = {node.source for node in plan.walk() if isinstance(node, Scan)}
    streams = [stream for name, stream in inputs.streams.items() if name in scanned]
    rows = [row for stream in streams for row in stream.in_time()]
    return max((row[TIME] for row in rows), default=None)


def query_of(engine: tm.Engine, sql: str) -> tm.Query:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanWarning)
        query = engine.sql(sql)
    assert query is not None
    return query


def wait_for(reached: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for something that happens in the background."""
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def multiset(table: pa.Table) -> Counter[str]:
    """The rows of a table with their number of copies, whatever their order and types."""
    return Counter(repr(tuple(row.values())) for row in table.to_pylist())


def net_changes(table: pa.Table) -> dict[str, int]:
    """How the number of copies of each row changes, and when: equal if the snapshots are.

    Where the results are cut into intervals depends on the ticks; what holds does not.
    """
    changes: Counter[str] = Counter()
    for row in table.to_pylist():
        start, end = row.pop("valid_from"), row.pop("valid_to")
        changes[f"{tuple(row.values())} at {start}"] += 1
        changes[f"{tuple(row.values())} at {end}"] -= 1
    return {change: count for change, count in changes.items() if count}
