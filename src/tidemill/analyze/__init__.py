"""From syntax trees to logical plans: names, types, windows and boundedness are checked here."""

from tidemill.analyze.catalog import Catalog, Derived, SourceInfo
from tidemill.analyze.planner import Planned, plan_query
from tidemill.analyze.sources import source_from_statement

__all__ = ["Catalog", "Derived", "Planned", "SourceInfo", "plan_query", "source_from_statement"]
