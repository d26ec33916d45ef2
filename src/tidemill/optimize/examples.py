"""What rules do to plans of SQL, for docstrings and pages."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.plan import Plan
from tidemill.algebra.schema import Schema
from tidemill.analyze import plan_query
from tidemill.catalog import Catalog, SourceInfo
from tidemill.optimize.rule import Rewrite, everywhere
from tidemill.sql import parse_one
from tidemill.timeline import TimeDomain

_TIME = {"domain": TimeDomain.TICKS, "time_column": "at", "time_type": pa.int64()}
SOURCES = [
    SourceInfo("bid", Schema.of(item=pa.int64(), price=pa.int64()), **_TIME),
    SourceInfo("auction", Schema.of(item=pa.int64(), seller=pa.int64()), **_TIME),
    SourceInfo("seller", Schema.of(id=pa.int64()), kind=SourceKind.CONSTANT, domain=None),
]


def plan_of(sql: str) -> Plan:
    """The plan of a query over the streams `bid` and `auction`, and the relation `seller`."""
    catalog = Catalog()
    for source in SOURCES:
        catalog.add_source(source)
    statement = parse_one(sql)
    return plan_query(statement.tree, statement.sql, catalog).plan


def show(rewrite: Rewrite, sql: str, after: Sequence[Rewrite] = ()) -> None:
    """Print the plan of a query before and after a rewriting of its nodes.

    Other rewritings may go before, to make the plan one to which this applies.
    """
    plan = plan_of(sql)
    for earlier in after:
        plan = everywhere(earlier, plan)
    print(plan)
    print("=>")
    print(everywhere(rewrite, plan))
