"""The page of capabilities is that of the matrix; `pytest tests/matrix --update` rewrites it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.matrix.cells import cells_of
from tests.matrix.groups import GROUPS
from tests.matrix.page import page
from tests.matrix.ways import WAYS

PAGE = Path(__file__).parents[2] / "docs" / "capabilities.md"


def test_the_page(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update", default=False):
        PAGE.write_text(page(), "utf-8")
    assert PAGE.read_text("utf-8") == page()


def test_refusals_are_few() -> None:
    """They belong to the meaning of a way: a graph that runs refuses what only Spark has, and no
    more."""
    refused = [cell for cell in cells_of(GROUPS) if cell.refusal is not None]
    by_graph = {cell.capability.name for cell in refused if cell.way.name == "graph"}
    assert by_graph == {"any writer of Spark"}
    ways = {way.name for way in WAYS}
    for cell in refused:
        keys = {part for key in cell.capability.refused for part in key.split()}
        assert keys <= ways | {"inprocess", "spark"}
