"""Tidemill's own operators without Spark: what the machinery around them costs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import polars as pl

from benchmarks.auction.measure import Form
from benchmarks.auction.windows import asked_query
from benchmarks.auction.worker import Request
from tidemill import Engine

NAME = "inprocess"


def forms(query: str) -> Sequence[Form]:
    """How it is asked."""
    return (Form(NAME, query, "same question, one thread, nothing is kept for a restart"),)


def handle(request: dict[str, Any]) -> dict[str, Any]:
    """Do what was asked; results are made and let go, tick by tick."""
    asked = Request(**request)
    query = asked_query(Engine(runtime="inprocess"), asked)
    if asked.do == "answer":
        pl.DataFrame(query.collect(coalesce=True)).write_parquet(asked.file)
        return {}
    began = time.perf_counter()
    for _ in query.ticks():
        pass
    return {"seconds": time.perf_counter() - began}
