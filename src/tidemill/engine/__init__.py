"""What users hold in their hands: the engine and its queries."""

from tidemill.engine.engine import Engine
from tidemill.engine.query import Query
from tidemill.engine.reports import Report

__all__ = ["Engine", "Query", "Report"]
