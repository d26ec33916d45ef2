"""The golden runs as SQL on our operators: the late plan and every early one."""

import warnings
from collections.abc import Mapping
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from tests.optimize.early.algorithm import aggregates
from tests.optimize.early.test_algorithm import PLANS, data
from tidemill import Engine, Query
from tidemill.errors import PlanWarning

Mask = tuple[int, ...]


def hint_of(query: Mapping[str, Any], mask: Mask) -> str:
    streams = zip(query["streams"], mask, strict=True)
    early = [stream["name"] for stream, wanted in streams if wanted]
    return f"/*+ EARLY({', '.join(early)}) */" if early else "/*+ LATE */"


def window_of(length: int | str) -> str:
    named = {"until now": "WINDOW(RANGE UNBOUNDED)", "relation": ""}
    return named[length] if isinstance(length, str) else f"WINDOW(RANGE {length})"


def text_of(query: Mapping[str, Any], mask: Mask) -> str:
    """The query as SQL; any column of an input that is never NULL stands for all of them."""
    keys = {stream["name"]: stream["columns"][1] for stream in query["streams"]}
    calls = [text.replace("B.*", f"B.{keys.get('B')}") for text in aggregates(query)]
    inputs = [f"{stream['name']} {window_of(stream['window'])}" for stream in query["streams"]]
    conditions = [f"{left} = {right}" for left, right in query["join"]]
    conditions += [f"{column} {sign} '{value}'" for column, sign, value in query.get("where", [])]
    columns = [*query["group_by"], *(f"{call} AS c{at}" for at, call in enumerate(calls))]
    text = f"SELECT {hint_of(query, mask)} {', '.join(columns)} FROM {', '.join(inputs)}"
    text += f" WHERE {' AND '.join(conditions)}"
    return text + (f" GROUP BY {', '.join(query['group_by'])}" if query["group_by"] else "")


def tables(given: Mapping[str, Any]) -> dict[str, pa.Table]:
    return {
        stream["name"]: pl.DataFrame(
            given["rows"][stream["name"]], schema=stream["columns"], orient="row"
        ).to_arrow()
        for stream in given["query"]["streams"]
    }


def query_of(given: Mapping[str, Any], mask: Mask, rows_per_tick: int) -> Query:
    engine = Engine(runtime="inprocess")
    for name, table in tables(given).items():
        if "ts" in table.column_names:
            starts = range(0, len(table), rows_per_tick)
            engine.stream(name, [table.slice(at, rows_per_tick) for at in starts], time="ts")
        else:
            engine.relation(name, table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanWarning)  # Example 1 joins all auctions until now
        return engine.sql(text_of(given["query"], mask))


@pytest.mark.parametrize("rows_per_tick", [3, 1000])
@pytest.mark.parametrize(("case", "mask"), PLANS)
def test_golden_run(case: Mapping[str, Any], mask: Mask, rows_per_tick: int) -> None:
    query = query_of(data(case), mask, rows_per_tick)
    assert query.explain("physical").count("AggregateExec") == 1 + sum(mask)
    for step in case["expected"]["steps"]:
        # A window of the text leaves out its last instant: it is ours one instant before.
        rows = query.snapshot(step["t"] - 1).to_pylist()
        assert sorted(map(rounded, rows)) == step["AS"], step["t"]


def rounded(row: Mapping[str, Any]) -> list[Any]:
    return [round(v, 6) if isinstance(v, float) else v for v in row.values()]
