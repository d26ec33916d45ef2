"""Settings that must be in place before any library is imported, and where tests run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

# pytest-xdist fills the cores; the tables of tests are too small for threads to pay.
os.environ.setdefault("POLARS_MAX_THREADS", "1")

from tests.fabrics.ground import IN_PROCESS, SPARK_LONG, Ground

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parent.parent

# Machines are shared: what takes long there is no mistake.
settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the expected plans for review")


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks at the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need Spark run in one process, where they share a session."""
    for item in items:
        if item.get_closest_marker("spark") is None:
            continue
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group("spark"))
        # Py4J leaves sockets to the garbage collector.
        item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))


@pytest.fixture(scope="session")
def session() -> Iterator[SparkSession]:
    """The Spark session of this test run, on two cores."""
    from tidemill.runtime.spark.session import _local_session

    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)  # workers import the modules of tests
    session = _local_session("2")
    yield session
    session.stop()


@pytest.fixture(autouse=True)
def _one_session(request: pytest.FixtureRequest) -> None:
    """An engine that would start Spark finds the session of this test run."""
    group = request.node.get_closest_marker("xdist_group")
    if group is not None and group.args == ("spark",):
        request.getfixturevalue("session")


@pytest.fixture(params=[IN_PROCESS, SPARK_LONG])
def fabric(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Ground:
    """Both fabrics, one after the other; see `tests/fabrics/ground.py`."""
    if request.param != IN_PROCESS:
        return Ground(request.getfixturevalue("session"))
    from tidemill.engine import environment

    # Engines hand parcels over as they are. Here they travel, as they do on Spark.
    packing = partial(environment.InProcess, packs=True)  # type: ignore[attr-defined]
    monkeypatch.setattr(environment, "InProcess", packing)
    return Ground()
