"""Tidemill's own operators without Spark: what the machinery around them costs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import polars as pl

from tidemill import Engine
from tidemill.nexmark.bench.measure import Form
from tidemill.nexmark.bench.worker import Request
from tidemill.nexmark.queries import QUERIES

NAME = "inprocess"


def forms(query: str) -> Sequence[Form]:
    """How it is asked."""
    return (Form(NAME, query, "same question, one thread, nothing is kept for a restart"),)


def handle(request: dict[str, Any]) -> dict[str, Any]:
    """Do what was asked; results are made and let go, tick by tick."""
    asked = Request(**request)
    query = QUERIES[asked.query].on(Engine(runtime="inprocess"), asked.data, asked.window)
    if asked.do == "answer":
        pl.DataFrame(query.collect(coalesce=True)).write_parquet(asked.file)
        return {}
    began = time.perf_counter()
    for _ in query.ticks():
        pass
    return {"seconds": time.perf_counter() - began}
