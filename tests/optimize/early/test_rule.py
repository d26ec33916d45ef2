"""Rule 1 on the golden queries: as stated, and as we use it."""

import re
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest

from tests.golden.early import cases
from tidemill.algebra.aggregates import AggregateCall
from tidemill.optimize.early.plans import all_masks
from tidemill.optimize.early.rule import (
    EarlyAggregate,
    coalesces,
    early_aggregate,
    literal_rule,
)


def call(text: str, *, distinct: bool = False) -> AggregateCall:
    function, argument = re.fullmatch(r"(\w+)\((.*)\)", text).groups()
    return AggregateCall(
        text, function, None if argument == "*" else argument, pa.int64(), distinct
    )


def shown(early: EarlyAggregate) -> dict[str, list[str]]:
    return {"grouping": list(early.groups), "functions": [str(p) for p in early.partials]}


def columns(query: Mapping[str, Any]) -> dict[str, list[str]]:
    """Qualified columns by stream; `stream.*` stands for any column that is never NULL."""
    streams = query["streams"]
    if isinstance(streams, list):
        streams = {stream["name"]: stream["columns"] for stream in streams}
    return {name: [f"{name}.{c}" for c in (*held, "*")] for name, held in streams.items()}


def query_of(case: Mapping[str, Any]) -> Mapping[str, Any]:
    query = case["inputs"].get("query", case["inputs"])
    return query | {"aggregates": query.get("aggregates", ["COUNT(B.*)"])}


def decide(rule: Any, query: Mapping[str, Any]) -> dict[str, Any]:
    joins = [column for pair in query["join"] for column in pair]
    calls = [call(text) for text in query["aggregates"]]
    return {
        name: shown(rule(held, query["group_by"], joins, calls))
        for name, held in columns(query).items()
    }


WITH_OPERATORS = [case for case in cases().values() if "ea_operators" in case["expected"]]


@pytest.mark.parametrize("case", WITH_OPERATORS, ids=lambda case: case["id"])
def test_literal_rule_on_golden_queries(case: Mapping[str, Any]) -> None:
    decided = decide(literal_rule, query_of(case))
    assert decided == case["expected"]["ea_operators"]
    plans = case["expected"].get("number_of_eaps", 2 ** len(decided) - 1)
    assert len(all_masks([True] * len(decided))) == plans + 1


@pytest.mark.parametrize("case", WITH_OPERATORS, ids=lambda case: case["id"])
def test_our_rule_only_adds_counts_and_splits_averages(case: Mapping[str, Any]) -> None:
    literal = decide(literal_rule, query_of(case))
    for name, ours in decide(early_aggregate, query_of(case)).items():
        kept = {text for text in literal[name]["functions"] if not text.startswith("AVG")}
        averaged = {text[4:-1] for text in literal[name]["functions"] if text.startswith("AVG")}
        split = {f"{function}({c})" for c in averaged for function in ("SUM", "COUNT")}
        assert ours["grouping"] == literal[name]["grouping"]
        assert set(ours["functions"]) == kept | split | {"COUNT(*)"}


ROWS = cases()["rule_1_decision_table"]["expected"]["rows"]
HELD = {"none": 0, "some": 1, "all": 2}


def row_id(row: Mapping[str, Any]) -> str:
    groups, arguments, *_ = row.values()
    return f"groups {groups}, arguments {arguments}"


@pytest.mark.parametrize("row", ROWS, ids=row_id)
def test_decision_table(row: Mapping[str, Any]) -> None:
    groups, arguments = ["g1", "g2"], ["a1", "a2"]
    held_groups = groups[: HELD[row["stream_holds_grouping_attributes"]]]
    held = arguments[: HELD[row["stream_holds_aggregation_attributes"]]]
    calls = [call(f"SUM({argument})") for argument in arguments]
    early = literal_rule(["j", "x", *held_groups, *held], groups, ["j"], calls)
    expected = {
        "join attributes": ["j"],
        "grouping attributes of the query held by the stream + join attributes": [
            *held_groups,
            "j",
        ],
        "COUNT(*)": ["COUNT(*)"],
        "query functions": [f"SUM({argument})" for argument in arguments],
        "query functions on the held attributes": [f"SUM({argument})" for argument in held],
    }
    functions = [text for name in row["ea_functions"] for text in expected[name]]
    assert shown(early) == {"grouping": expected[row["ea_grouping"]], "functions": functions}


def test_number_of_plans() -> None:
    case = cases()["number_of_plans"]
    counts = [len(all_masks([True] * m)) for m in case["inputs"]["m"]]
    assert counts == case["expected"]["plans_with_lap"]


@pytest.mark.parametrize(
    ("text", "distinct", "possible"),
    [
        ("SUM(a)", False, True),
        ("COUNT(*)", False, True),
        ("COUNT(a)", True, False),
        ("MIN(a)", True, True),
        ("VAR_POP(a)", False, False),
    ],
)
def test_which_calls_coalesce(text: str, distinct: bool, possible: bool) -> None:
    assert coalesces(call(text, distinct=distinct)) == possible
