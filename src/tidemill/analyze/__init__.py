"""From syntax trees to logical plans: names, types, windows and boundedness are checked here."""

from tidemill.analyze.planner import Planned, derived_from_statement, plan_query
from tidemill.analyze.sources import source_from_statement
from tidemill.analyze.values import inserted_rows, instant_of

__all__ = [
    "Planned",
    "derived_from_statement",
    "inserted_rows",
    "instant_of",
    "plan_query",
    "source_from_statement",
]
