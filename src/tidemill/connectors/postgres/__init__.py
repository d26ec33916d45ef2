"""PostgreSQL: tables that change as relations, and tables that hold the answer of a query."""

from tidemill.connectors.postgres.log import prune, watch
from tidemill.connectors.postgres.sink import PostgresSink
from tidemill.connectors.postgres.source import open_source

__all__ = ["PostgresSink", "open_source", "prune", "watch"]
