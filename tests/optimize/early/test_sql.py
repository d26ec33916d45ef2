"""The golden runs as SQL on our operators."""

import warnings
from collections.abc import Mapping
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from tests.optimize.early.algorithm import aggregates
from tests.optimize.early.test_algorithm import RUNS, data
from tidemill import Engine
from tidemill.errors import PlanWarning
from tidemill.physical.changes import snapshot
from tidemill.physical.lowering import lower
from tidemill.runtime.inprocess import Run
from tidemill.runtime.inprocess.feeds import ConstantFeed, Feed, StreamFeed
from tidemill.testing.check_queries import plan_of


def window_of(length: int | str) -> str:
    named = {"until now": "WINDOW(RANGE UNBOUNDED)", "relation": ""}
    return named[length] if isinstance(length, str) else f"WINDOW(RANGE {length})"


def text_of(query: Mapping[str, Any]) -> str:
    """The query as SQL; any column of an input that is never NULL stands for all of them."""
    keys = {stream["name"]: stream["columns"][1] for stream in query["streams"]}
    calls = [text.replace("B.*", f"B.{keys.get('B')}") for text in aggregates(query)]
    inputs = [f"{stream['name']} {window_of(stream['window'])}" for stream in query["streams"]]
    conditions = [f"{left} = {right}" for left, right in query["join"]]
    conditions += [f"{column} {sign} '{value}'" for column, sign, value in query.get("where", [])]
    columns = [*query["group_by"], *(f"{call} AS c{at}" for at, call in enumerate(calls))]
    text = f"SELECT {', '.join(columns)} FROM {', '.join(inputs)} WHERE {' AND '.join(conditions)}"
    return text + (f" GROUP BY {', '.join(query['group_by'])}" if query["group_by"] else "")


def tables(given: Mapping[str, Any]) -> dict[str, pa.Table]:
    return {
        stream["name"]: pl.DataFrame(
            given["rows"][stream["name"]], schema=stream["columns"], orient="row"
        ).to_arrow()
        for stream in given["query"]["streams"]
    }


def feed(name: str, table: pa.Table, rows_per_tick: int) -> Feed:
    parts = (table.slice(at, rows_per_tick) for at in range(0, len(table), rows_per_tick))
    if "ts" in table.column_names:
        return StreamFeed(name, parts, time="ts")
    return ConstantFeed(name, iter([table]))


def answer(given: Mapping[str, Any], rows_per_tick: int) -> pl.DataFrame:
    """All rows of the result with their validity."""
    engine = Engine(runtime="inprocess")
    for name, table in tables(given).items():
        if "ts" in table.column_names:
            engine.stream(name, table, time="ts")
        else:
            engine.relation(name, table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanWarning)  # Example 1 joins all auctions until now
        plan = plan_of(engine.sql(text_of(given["query"])))
    feeds = {name: feed(name, table, rows_per_tick) for name, table in tables(given).items()}
    return pl.concat(Run(lower(plan, {}), feeds))


@pytest.mark.parametrize("rows_per_tick", [1, 3, 1000])
@pytest.mark.parametrize("case", RUNS, ids=lambda case: case["id"])
def test_golden_run(case: Mapping[str, Any], rows_per_tick: int) -> None:
    given = data(case)
    found = answer(given, rows_per_tick)
    for step in case["expected"]["steps"]:
        # A window of the text leaves out its last instant: it is ours one instant before.
        rows = snapshot(found, step["t"] - 1).rows()
        assert sorted(map(rounded, rows)) == step["AS"], step["t"]


def rounded(row: tuple[Any, ...]) -> list[Any]:
    return [round(value, 6) if isinstance(value, float) else value for value in row]
