"""A client of a Tidemill server: its HTTP API and its live messages, from Python."""

from tidemill.client.client import Client
from tidemill.client.errors import RequestError
from tidemill.client.live import Message
from tidemill.client.models import (
    Catalog,
    Changes,
    Check,
    ColumnInfo,
    Derived,
    Plan,
    QueryInfo,
    Relation,
    Rows,
    Snapshot,
    StatementResult,
    Stream,
)

__all__ = [
    "Catalog",
    "Changes",
    "Check",
    "Client",
    "ColumnInfo",
    "Derived",
    "Message",
    "Plan",
    "QueryInfo",
    "Relation",
    "RequestError",
    "Rows",
    "Snapshot",
    "StatementResult",
    "Stream",
]
