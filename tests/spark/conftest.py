"""All tests here need Spark; some start processes of their own, and some take minutes."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
WITH_PROCESSES = {"test_cluster.py"}
# Minutes of Spark: `make test-long` runs them, `make test` does not.
SLOW = {"test_values.py", "test_cluster.py", "test_offline.py"}


@pytest.hookimpl(tryfirst=True)  # before the common settings look at the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        name = item.path.name
        if item.path.parent != HERE:
            continue
        item.add_marker(pytest.mark.spark)
        if name in WITH_PROCESSES:
            item.add_marker(pytest.mark.xdist_group("spark-processes"))
        if name in SLOW:
            item.add_marker(pytest.mark.slow)
