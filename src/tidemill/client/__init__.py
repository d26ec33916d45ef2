"""A client of a Tidemill server: its HTTP API and its live messages, from Python.

What it answers with are the shapes of `tidemill.wire`, and rows as Arrow tables.
"""

from tidemill.client.client import Client
from tidemill.client.errors import RequestError
from tidemill.client.live import Message
from tidemill.client.rows import Changes, Rows, Snapshot

__all__ = ["Changes", "Client", "Message", "RequestError", "Rows", "Snapshot"]
