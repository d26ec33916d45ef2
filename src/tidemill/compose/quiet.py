"""Queries that are planned without a word."""

from __future__ import annotations

import warnings

from tidemill.engine import Query
from tidemill.engine.apart import Desk
from tidemill.errors import PlanWarning


def quietly(engine: Desk, sql: str) -> Query:
    """The query of a text; what the planner has to say about it is left to others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanWarning)
        return engine.planned(sql)
