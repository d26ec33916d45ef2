"""A real server for the tests of PostgreSQL, and an empty database for each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.connectors.postgres.server import PostgresServer, find_binaries

HERE = Path(__file__).parent

# Those of the tests before: quicker than a database for each of them.
SCHEMAS = """
SELECT quote_ident(nspname) FROM pg_namespace
WHERE nspname <> 'information_schema' AND nspname !~ '^pg_'
"""


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks at the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        # Tests that need Spark run where its other tests do.
        if item.path.parent == HERE and item.get_closest_marker("spark") is None:
            item.add_marker(pytest.mark.xdist_group("postgres"))


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    """A server for this run; without its binaries, tests say that they were skipped, and why."""
    if (binaries := find_binaries()) is None:
        pytest.skip("no PostgreSQL server on this machine: `make postgres` installs one")
    server = PostgresServer(binaries)
    try:
        server.start()
        for name in ("test", "values"):
            server.make_database(name)
        yield server
        server.stop()
    finally:
        server.remove()


@dataclass(frozen=True)
class Database:
    """One of the databases of the server."""

    server: PostgresServer
    name: str

    @property
    def url(self) -> str:
        return self.server.url(self.name)

    @property
    def place(self) -> str:
        return self.url.rpartition("@")[2]

    def connect(self) -> psycopg.Connection[Any]:
        return self.server.connect(self.name)

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements, each in a transaction of its own; the rows of the last one."""
        with self.connect() as connection:
            for statement in statements:
                cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []


@pytest.fixture
def database(server: PostgresServer) -> Iterator[Database]:
    database = Database(server, "test")
    with database.connect() as connection:
        for (schema,) in connection.execute(SCHEMAS).fetchall():
            connection.execute(f"DROP SCHEMA {schema} CASCADE")
        connection.execute("CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC")
    yield database
    if not server.is_running:
        server.start()
