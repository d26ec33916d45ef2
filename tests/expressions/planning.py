"""Plan and compute expressions of the table as a query would."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from tests.expressions.answers import Answer, failed, shown
from tests.expressions.rows import ROWS
from tidemill.algebra import Project, Schema, SourceKind
from tidemill.analyze import plan_query
from tidemill.catalog import Catalog, SourceInfo
from tidemill.errors import ExecutionError, TidemillError
from tidemill.expressions import compile_items
from tidemill.sql import parse_one

SCHEMA = Schema.of(**{field.name: field.type for field in ROWS.schema})
FRAME = pl.DataFrame(ROWS)


@dataclass(frozen=True)
class Refused:
    """Why an expression is not planned, and where it is wrong."""

    reason: str
    line: int | None
    column: int | None


def catalog() -> Catalog:
    found = Catalog()
    found.add_source(SourceInfo("t", SCHEMA, kind=SourceKind.CONSTANT, domain=None, bounded=True))
    return found


def answer(text: str, known: Catalog) -> Answer | Refused:
    """Our answer to an expression."""
    try:
        query = parse_one(f"SELECT {text} AS r FROM t")
        plan = plan_query(query.tree, query.sql, known).plan
    except TidemillError as error:
        return Refused(error.message, error.line, error.column)
    assert isinstance(plan, Project)
    scalar = plan.items[0][1]
    frame = FRAME.rename({field: f"t.{field}" for field in SCHEMA.names})
    try:
        found = compile_items([("r", scalar)], plan.child.schema, {}).run(frame)
    except ExecutionError as error:
        return failed(error.message)
    return shown(found.to_arrow().column(0))


__all__ = ["Project", "answer", "catalog"]
