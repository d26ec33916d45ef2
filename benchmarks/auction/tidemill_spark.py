"""Tidemill on Spark, and the floor below it; run by `serving` in a process of its own."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from typing import Any

import polars as pl
from pyspark.sql import SparkSession

from benchmarks.auction import floor
from benchmarks.auction.measure import Form
from benchmarks.auction.windows import asked_query
from benchmarks.auction.worker import Request
from tidemill import Engine
from tidemill.nexmark.generate import generate
from tidemill.nexmark.queries import QUERIES
from tidemill.runtime.spark.session import PATIENT_COMPILER

NAME = "tidemill"
_PAUSE = 0.02
_SEED = 1
_CLUSTER = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # What the session of `tm.Engine()` has on this machine.
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.executor.extraJavaOptions": PATIENT_COMPILER,
    "spark.executorEnv.POLARS_MAX_THREADS": "1",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "200000",
    "spark.sql.session.timeZone": "UTC",
}


def forms(query: str) -> Sequence[Form]:
    """How it is asked."""
    return (Form(NAME, query, QUERIES[query].title),)


def handle(request: dict[str, Any]) -> dict[str, Any]:
    """Do what was asked."""
    asked = Request(**request)
    spark = session(asked.master)
    match asked.do:
        case "generate":
            generate(spark, asked.data, asked.bids, asked.files, _SEED)
            return {}
        case "answer":
            answer(spark, asked).write_parquet(asked.file)
            return {}
        case "floor":
            streams = QUERIES[asked.query].streams
            return {"seconds": floor.run(spark, streams, asked.data, asked.partitions)}
    return run(spark, asked)


def run(spark: SparkSession, asked: Request) -> dict[str, Any]:
    """The seconds, the phases of every tick, and the most rows that operators remembered."""
    query = asked_query(_engine(spark, asked), asked)
    ticks: dict[int, dict[str, float]] = {}
    state_rows = 0
    with tempfile.TemporaryDirectory(prefix="checkpoint-") as checkpoint:
        began = time.perf_counter()
        running = query.start("noop", checkpoint=checkpoint, available_now=True)
        active = True
        while active:
            # Asked again after the end: the last tick may end between two looks.
            active = not running.await_termination(_PAUSE)
            progress = running.progress
            ticks[progress.ticks] = dict(progress.phases)
            state_rows = max(state_rows, sum(each.state_rows for each in progress.operators))
        seconds = time.perf_counter() - began
    ticks.pop(0, None)
    return {"seconds": seconds, "ticks": list(ticks.values()), "state_rows": state_rows}


def answer(spark: SparkSession, asked: Request) -> pl.DataFrame:
    """The rows of the answer with their validity."""
    query = asked_query(_engine(spark, asked), asked)
    return pl.DataFrame(query.collect(coalesce=True))


def _engine(spark: SparkSession, asked: Request) -> Engine:
    return Engine(spark=spark, partitions=asked.partitions)


@cache
def session(master: str) -> SparkSession:
    """The session that users get on one machine, or one with executors of their own."""
    if master == "local":
        return Engine(runtime="spark").spark
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master).appName("tidemill-bench")
    for key, value in _CLUSTER.items():
        builder = builder.config(key, value)
    # Executors find Tidemill where this process has found it.
    path = os.pathsep.join(filter(None, sys.path))
    builder = builder.config("spark.executorEnv.PYTHONPATH", path)
    return builder.config("spark.executorEnv.PYSPARK_PYTHON", sys.executable).getOrCreate()
