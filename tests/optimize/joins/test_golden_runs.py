"""The worked runs of the text as SQL, in every order, over time and count windows.

The text's windows are closed at both ends, so ours are one instant longer. A result belongs to the
arrival of its newest row, and holds from then on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tidemill import Engine

FILE = Path(__file__).parents[2] / "golden" / "papers" / "multijoin.json"
CASES = {case["id"]: case for case in json.loads(FILE.read_text("utf-8"))["cases"]}
STREAMS = ("S1", "S2", "S3")


def rows_of(arrivals: list[list[Any]], stream: str) -> pa.Table:
    mine = [{"ts": ts, "attr": attr} for name, ts, attr in arrivals if name == stream]
    return pa.Table.from_pylist(mine, pa.schema([("ts", pa.int64()), ("attr", pa.int64())]))


def answer(given: Mapping[str, Any], streams: tuple[str, ...], hint: str, tick: int) -> list[Any]:
    """The rows that come out, with when they begin."""
    engine = Engine(runtime="inprocess")
    windows = {}
    for name in streams:
        table = rows_of(given["arrivals"], name)
        ticks = [table.slice(at, tick) for at in range(0, len(table), tick)]
        engine.stream(name, ticks, time="ts")
        lengths = given.get("window_length")
        size = f"RANGE {lengths[name] + 1}" if lengths else f"ROWS {given['window_count'][name]}"
        windows[name] = f"{name} WINDOW({size})"
    columns = ", ".join(f"{name}.ts AS t{at}" for at, name in enumerate(streams))
    equal = " AND ".join(f"S1.attr = {name}.attr" for name in streams[1:])
    sources = ", ".join(windows.values())
    query = engine.sql(f"SELECT {hint} {columns} FROM {sources} WHERE {equal}")
    assert query is not None
    names = [f"t{at}" for at in range(len(streams))]
    return sorted(
        tuple(row[name] for name in (*names, "valid_from"))
        for row in query.collect(coalesce=True).to_pylist()
    )


@pytest.mark.parametrize("order", list(permutations(STREAMS)), ids=" ".join)
@pytest.mark.parametrize("tick", [1, 4, 100])
@pytest.mark.parametrize("case", ["run_3_streams_time_windows", "run_3_streams_count_windows"])
def test_runs(case: str, tick: int, order: tuple[str, ...]) -> None:
    given, expected = CASES[case]["inputs"], CASES[case]["expected"]
    hint = f"/*+ ORDER({', '.join(order)}) */"
    rows = [row for arrival in expected["rows_per_arrival"] for row in arrival["rows"]]
    assert len(rows) == expected["total_rows"]
    assert answer(given, STREAMS, hint, tick) == sorted((*row, max(row)) for row in rows)


@pytest.mark.parametrize("case", ["window_bound_is_closed", "equal_timestamps_two_streams"])
def test_bounds(case: str) -> None:
    given, expected = CASES[case]["inputs"], CASES[case]["expected"]
    for tick in (1, 10):
        found = answer(given, ("S1", "S2"), "", tick)
        assert found == sorted((*row, max(row)) for row in expected["rows"])


def test_expired_rows_meet_no_newer_ones() -> None:
    """Tables 2 and 3: what a join would find that looked at the clock only."""
    given, expected = CASES["tables_2_3"]["inputs"], CASES["tables_2_3"]["expected"]
    arrivals = [[name, ts, attr] for name, rows in given["windows"].items() for ts, attr in rows]
    run = {"arrivals": arrivals, "window_length": given["window_length"]}
    found = [list(row[:-1]) for row in answer(run, STREAMS, "", 100)]
    assert found == expected["correct_rows"]
