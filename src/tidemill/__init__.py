"""Tidemill: continuous SQL queries over data streams, with exact meaning."""

from tidemill.algebra import Range, Recurrence
from tidemill.engine import Engine, Query
from tidemill.errors import (
    CatalogError,
    ExecutionError,
    PlanError,
    PlanWarning,
    ResourceError,
    SqlSyntaxError,
    TidemillError,
    UnsupportedError,
)
from tidemill.runtime.progress import Progress

__version__ = "0.1.0"

__all__ = [
    "CatalogError",
    "Engine",
    "ExecutionError",
    "PlanError",
    "PlanWarning",
    "Progress",
    "Query",
    "Range",
    "Recurrence",
    "ResourceError",
    "SqlSyntaxError",
    "TidemillError",
    "UnsupportedError",
    "__version__",
]
