"""Tidemill's own operators without Spark: what the machinery around them costs."""

from __future__ import annotations

from tidemill import Engine, TidemillError
from tidemill.nexmark.bench.measure import Setting, Spent, watched
from tidemill.nexmark.queries import BenchmarkQuery

NAME = "inprocess"
NOTE = "same question, one core, not distributed"


def run(query: BenchmarkQuery, setting: Setting) -> Spent:
    """What it took; results are made and let go, tick by tick."""
    prepared = Engine(runtime="inprocess").sql(query.script(setting.data))
    if prepared is None:
        raise TidemillError(f"the script of {query.name} does not end with a query")
    with watched() as spent:
        for _ in prepared.ticks():
            pass
    return spent
