"""A database and a broker for the cells that need them."""

import pytest

from tests.connectors.kafka.conftest import broker, topic
from tests.connectors.postgres.conftest import database, server

MODULES = ("changes", "forms", "relations", "restarts", "sinks", "sources", "times", "ways")
# What fails there is shown as in the modules of tests.
pytest.register_assert_rewrite(*(f"tests.matrix.{name}" for name in MODULES))

__all__ = ["broker", "database", "server", "topic"]
