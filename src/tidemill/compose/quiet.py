"""Queries that are planned without a word."""

from __future__ import annotations

import warnings

from tidemill.engine import Engine, Query
from tidemill.errors import PlanWarning


def quietly(engine: Engine, sql: str) -> Query:
    """The query of a text; what the planner has to say about it is left to others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanWarning)
        query = engine.sql(sql)
    assert query is not None
    return query
