"""The golden data of aggregation joins: cases by id, settings as streams."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from experiments.early.costs import Stream

_FILE = Path(__file__).parent / "papers" / "early_aggregation.json"


@cache
def cases() -> Mapping[str, Any]:
    """All cases by id."""
    return {case["id"]: case for case in json.loads(_FILE.read_text("utf-8"))["cases"]}


def streams(setting: Mapping[str, Any]) -> list[Stream]:
    """The inputs of a setting."""
    columns = (setting[name] for name in ("rate", "w", "g", "sigma"))
    return [Stream(*values) for values in zip(*columns, strict=True)]


# What each sweep changes in its default setting.
_SWEPT = {
    "sweep_w1": lambda value: {"w": [value, 5000]},
    "sweep_g1": lambda value: {"g": [value, 1]},
    "sweep_rate1_hash_rate2_500": lambda value: {"rate": [value, 500]},
    "sweep_rate1_hash_rate2_300": lambda value: {"rate": [value, 300]},
    "sweep_sigma": lambda value: {"sigma": [value, value]},
}


def points(case: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Settings of a case about costs, each with what is expected there."""
    expected, inputs = case["expected"], case["inputs"]
    if "points" not in expected:
        return [(inputs, expected)]
    if "setting" in expected["points"][0]:
        return [(point["setting"], point) for point in expected["points"]]
    [swept] = [change for name, change in _SWEPT.items() if case["id"].startswith(name)]
    return [({**inputs["default"], **swept(p["value"])}, p) for p in expected["points"]]
