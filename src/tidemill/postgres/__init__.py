"""PostgreSQL: tables that change as relations, and tables that hold the answer of a query."""

from tidemill.postgres.log import prune, watch
from tidemill.postgres.sink import PostgresSink
from tidemill.postgres.source import open_source

__all__ = ["PostgresSink", "open_source", "prune", "watch"]
