"""A database for the tests that need one."""

from tests.connectors.postgres.conftest import database, server

__all__ = ["database", "server"]
