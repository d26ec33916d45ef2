"""One Spark session for all tests that need one; tests that start processes have their own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tidemill.runtime.spark.session import _local_session

HERE = Path(__file__).parent
WITHOUT_SPARK = {
    "test_checkpoint.py",
    "test_fragments.py",
    "test_phases.py",
    "test_placement.py",
    "test_snapshots.py",
    "test_state.py",
}
WITH_PROCESSES = {"test_kills.py", "test_cluster.py"}
# Minutes of Spark: `make test-spark` runs them, `make test` does not.
SLOW = {"test_random.py", "test_values.py", "test_queries.py", *WITH_PROCESSES}


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks at the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        name = item.path.name
        if name in SLOW and item.path.parent.name in ("spark", "nexmark"):
            item.add_marker(pytest.mark.slow)
        if item.path.parent != HERE:
            # The examples of the page run on Spark as well: on the same session.
            group = "spark" if item.name == "test_page[spark.md]" else None
        elif name in WITHOUT_SPARK:
            group = None
        else:
            group = "spark-processes" if name in WITH_PROCESSES else "spark"
        if group is not None:
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.xdist_group(group))
            # Py4J leaves sockets to the garbage collector.
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))


@pytest.fixture(scope="session")
def session() -> Iterator[SparkSession]:
    """The session of this test run, on two cores."""
    paths = [str(HERE.parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)  # workers import the modules of tests
    session = _local_session("2")
    yield session
    session.stop()
