"""The NEXMark queries of the golden data can all be planned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.analyze.world import plan
from tidemill.algebra import Schema, SourceKind
from tidemill.analyze import source_from_statement
from tidemill.catalog import Catalog, SourceInfo
from tidemill.expressions import UserFunction
from tidemill.sql import CreateStream, parse_one
from tidemill.timeline import TimeDomain

GOLDEN = json.loads((Path(__file__).parent.parent / "golden/pipes/nexmark.json").read_text())
TYPES = {"INT": pa.int32(), "REAL": pa.float64(), "TEXT": pa.string()}
QUERIES = [case for case in GOLDEN["cases"] if ".ddl." not in case["id"]]


@pytest.fixture(scope="module")
def known() -> Catalog:
    """One catalog for all: later queries read the derived streams of earlier ones."""
    catalog = Catalog()
    for name, facts in GOLDEN["schemas"].items():
        if facts["attributes"]:
            catalog.add_source(_source(name, facts))
    convert = UserFunction("DolToEuro", lambda dollars: dollars * 4 / 5, pa.float64())
    catalog.functions["doltoeuro"] = convert
    derived = {case["id"]: case["text"] for case in QUERIES}
    plan(derived["nexmark.q5"], catalog)
    return catalog


def _source(name: str, facts: dict[str, Any]) -> SourceInfo:
    columns = (attribute.split() for attribute in facts["attributes"])
    schema = Schema.of(**{column: TYPES[kind] for column, kind in columns})
    kind = SourceKind.STREAM if facts["kind"] == "stream" else SourceKind.INTERVALS
    return SourceInfo(name, schema, kind, TimeDomain.MICROSECONDS)


@pytest.mark.parametrize("case", QUERIES, ids=lambda case: str(case["id"]))
def test_plans(case: dict[str, Any], known: Catalog) -> None:
    if case["id"] == "nexmark.q5":  # planned for the others already
        schema = known.lookup("ClosingPriceStream").schema
    else:
        planned = plan(case["text"], known)
        assert planned.warnings == ()
        assert planned.domain is TimeDomain.MICROSECONDS
        schema = planned.plan.schema
    assert list(schema.names) == case["result_attributes"]


def test_declaration() -> None:
    [case] = [case for case in GOLDEN["cases"] if ".ddl." in case["id"]]
    statement = parse_one(case["text"])
    assert isinstance(statement, CreateStream)
    info = source_from_statement(statement)
    assert info.schema.names == ("itemID", "sellerID", "start_price")
    assert (info.time_column, info.domain) == ("timestamp", TimeDomain.MICROSECONDS)
    assert info.arguments == ("port34100", "converter")
