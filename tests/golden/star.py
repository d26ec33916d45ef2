"""The golden data of star joins: cases by id, and their data for the step-by-step run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.reference.shedding import StreamRow, Version
from tidemill.timeline import OPEN_END

_FILE = Path(__file__).parent / "papers" / "star_join.json"


@cache
def cases() -> Mapping[str, Any]:
    """All cases by id."""
    return {case["id"]: case for case in json.loads(_FILE.read_text("utf-8"))["cases"]}


def data_of(case: Mapping[str, Any]) -> Mapping[str, Any]:
    """The streams R and S, the relation F and the settings of a case."""
    inputs: Mapping[str, Any] = case["inputs"]
    return data_of(cases()[inputs["same_data_as"]]) if "same_data_as" in inputs else inputs


def stream(rows: Sequence[Sequence[int]], life: int, name: str) -> list[StreamRow]:
    """[ts, value, importance] as rows that are named r(0), r(1), …"""
    return [
        StreamRow(ts, ts + life, (value,), float(importance), f"{name}({ts})")
        for ts, value, importance in rows
    ]


def relation(rows: Sequence[Sequence[int | None]]) -> list[Version]:
    """[value of each stream, begin, end] as versions of rows."""
    return [
        Version(tuple((value,) for value in values), begin or 0, OPEN_END if end is None else end)
        for *values, begin, end in rows
    ]
