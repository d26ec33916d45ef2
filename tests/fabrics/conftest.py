"""A database for the tests that need one."""

from tests.postgres.conftest import database, server

__all__ = ["database", "server"]
