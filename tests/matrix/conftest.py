"""A database for the cells that need one."""

import pytest

from tests.connectors.postgres.conftest import database, server

MODULES = ("changes", "forms", "relations", "restarts", "sinks", "times", "ways")
# What fails there is shown as in the modules of tests.
pytest.register_assert_rewrite(*(f"tests.matrix.{name}" for name in MODULES))

__all__ = ["database", "server"]
