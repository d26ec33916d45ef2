"""Tidemill on Spark."""

from __future__ import annotations

import shutil
import tempfile
import time

import polars as pl
from pyspark.sql import SparkSession

from tidemill import Engine, Query, TidemillError
from tidemill.nexmark.bench.measure import Setting, Spent, watched
from tidemill.nexmark.queries import BenchmarkQuery

NAME = "tidemill"
_PAUSE = 0.005


def run(
    session: SparkSession, query: BenchmarkQuery, setting: Setting
) -> tuple[Spent, dict[str, float]]:
    """What it took, and the seconds of all ticks by phase."""
    prepared = _query(session, query, setting)
    phases: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="tidemill-bench-") as checkpoint:
        with watched() as spent:
            running = prepared.start("noop", checkpoint=checkpoint, available_now=True)
            last = None
            while running.is_active:
                now = running.progress.phases
                if now is not last and now:
                    last = now
                    _add(phases, now)
                time.sleep(_PAUSE)
            running.await_termination()
            _add(phases, running.progress.phases)
        shutil.rmtree(checkpoint, ignore_errors=True)
    return spent, phases


def answer(session: SparkSession, query: BenchmarkQuery, setting: Setting) -> pl.DataFrame:
    """The rows of the answer with their validity."""
    return pl.DataFrame(_query(session, query, setting).collect())


def _query(session: SparkSession, query: BenchmarkQuery, setting: Setting) -> Query:
    engine = Engine(spark=session, partitions=setting.cores)
    prepared = engine.sql(query.script(setting.data))
    if prepared is None:
        raise TidemillError(f"the script of {query.name} does not end with a query")
    return prepared


def _add(total: dict[str, float], more: object) -> None:
    assert isinstance(more, dict)
    for phase, seconds in more.items():
        total[phase] = total.get(phase, 0.0) + seconds
