"""Short ways to write plans and data for the tests of single definitions."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
from sqlglot import parse_one

from tidemill.algebra import Aggregate, AggregateCall, Plan, Scalar, Scan, Schema, SourceKind
from tidemill.algebra.aggregates import result_type
from tidemill.expressions import infer
from tidemill.reference import LogicalStream, Row, evaluate


def leaf(name: str = "s", kind: SourceKind = SourceKind.STREAM, **types: pa.DataType) -> Scan:
    return Scan(name, name, Schema.of(**types), kind)


def scalar(text: str, *inputs: Plan) -> Scalar:
    """An expression over plan columns, written in backquotes where they hold a point."""
    schema = Schema(tuple(field for plan in inputs for field in plan.schema))
    node = parse_one(text, read="spark")
    return Scalar(node, infer(node, schema, {}))


def stream(scan: Scan, *rows: Any) -> list[tuple[dict[str, Any], int]]:
    """Rows given as (values…, instant)."""
    return [(dict(zip(scan.columns.names, row[:-1], strict=True)), row[-1]) for row in rows]


def aggregated(function: str, values: list[Any], kind: pa.DataType, distinct: bool = False) -> Any:
    """The aggregate of values that hold together."""
    scan = leaf(x=kind)
    call = AggregateCall("y", function, "s.x", result_type(function, kind), distinct)
    plan = Aggregate(scan, (), (call,))
    ((answer,),) = run(plan, stream(scan, *((value, 0) for value in values))).at(0)
    return answer


def run(plan: Plan, *data: Any, horizon: int = 9) -> LogicalStream:
    """The plan over the data of its leaves, in the order of their names."""
    names = sorted({node.source for node in plan.walk() if isinstance(node, Scan)})
    return evaluate(plan, dict(zip(names, data, strict=True)), horizon)


def copies(stream: LogicalStream, t: int) -> list[Row]:
    """The copies of an instant, in some fixed order."""
    found: Counter[Row] = stream.at(t)
    return sorted(found.elements(), key=repr)
