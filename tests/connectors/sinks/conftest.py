"""The server of the tests of PostgreSQL, for the sink that writes to it."""

from __future__ import annotations

from tests.connectors.postgres.conftest import database, server

__all__ = ["database", "server"]
