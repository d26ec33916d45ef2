"""Queries of tests, and what they answer."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable

import pyarrow as pa

import tidemill as tm
from tidemill.errors import PlanWarning


class Results:
    """A sink that keeps what it is given; a tick that comes again takes the place of the first."""

    def __init__(self) -> None:
        self.ticks: dict[int, pa.Table] = {}

    def __call__(self, rows: pa.Table, tick: int) -> None:
        self.ticks[tick] = rows

    @property
    def table(self) -> pa.Table:
        return pa.concat_tables(self.ticks.values())

    @property
    def rows(self) -> Counter[str]:
        return sum((multiset(table) for table in self.ticks.values()), Counter[str]())


def query_of(engine: tm.Engine, sql: str) -> tm.Query:
    """The query of a text, whatever the planner has to say about it."""
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
        time.sleep(0.02)


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
