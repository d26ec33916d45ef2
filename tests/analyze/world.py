"""The catalog that the tests of this folder share."""

from __future__ import annotations

import pyarrow as pa

from tidemill.algebra import Range, Recurrence, Schema, SourceKind, UserAggregate
from tidemill.analyze import Planned, derived_from_statement, plan_query
from tidemill.catalog import Catalog, SourceInfo
from tidemill.expressions import UserFunction
from tidemill.sql import CreateDerived, parse
from tidemill.timeline import TimeDomain

TICKS = {"domain": TimeDomain.TICKS, "time_column": "ts", "time_type": pa.int64()}
MICROS = {
    "domain": TimeDomain.MICROSECONDS,
    "time_column": "at",
    "time_type": pa.timestamp("us"),
}
SOURCES = [
    SourceInfo("bid", Schema.of(item=pa.int64(), price=pa.float64(), bidder=pa.string()), **TICKS),
    SourceInfo(
        "auction",
        Schema.of(item=pa.int64(), seller=pa.int64(), reserve=pa.decimal128(10, 2)),
        **TICKS,
    ),
    SourceInfo("trade", Schema.of(symbol=pa.string(), volume=pa.int64()), **MICROS),
    *(
        SourceInfo(
            name,
            Schema.of(plate=pa.string(), speed=pa.float64(), lane=pa.int32()),
            **TICKS,
            ranges={"speed": Range(0, 400)},
            recurs=recurs,
        )
        for name, recurs in (
            ("north", None),
            ("south", Recurrence(1, ("plate",))),
            ("east", Recurrence(3, ("plate",), within=100)),
        )
    ),
    SourceInfo(
        "category",
        Schema.of(id=pa.int64(), name=pa.string()),
        kind=SourceKind.CONSTANT,
        domain=None,
        bounded=True,
    ),
    SourceInfo(
        "person",
        Schema.of(id=pa.int64(), name=pa.string(), home=pa.struct([("city", pa.string())])),
        kind=SourceKind.INTERVALS,
    ),
    SourceInfo(
        "offer",
        Schema.of(item=pa.int64(), seller=pa.int64(), note=pa.string()),
        kind=SourceKind.CHANGING,
        domain=None,
        bounded=True,
    ),
]


def catalog() -> Catalog:
    catalog = Catalog()
    for source in SOURCES:
        catalog.add_source(source)
    catalog.functions["euro"] = UserFunction("euro", lambda x: x and x * 0.8, pa.float64())
    catalog.functions["norm"] = UserFunction(
        "norm", lambda a, b: max(a, b), pa.float64(), monotone=True
    )
    catalog.aggregates["product"] = UserAggregate(
        "product", lambda x: x, lambda x, y: x * y, lambda x: x, pa.float64()
    )
    return catalog


def plan(sql: str, known: Catalog | None = None) -> Planned:
    """Plan the last statement of a script; those before it create derived streams."""
    known = known or catalog()
    *creations, query = parse(sql)
    for statement in creations:
        assert isinstance(statement, CreateDerived)
        derive(statement, known)
    if isinstance(query, CreateDerived):
        return derive(query, known)
    return plan_query(query.tree, query.sql, known)


def derive(statement: CreateDerived, known: Catalog) -> Planned:
    planned = plan_query(statement.query, statement.sql, known)
    known.add(derived_from_statement(statement, planned), replaces=False)
    return planned
