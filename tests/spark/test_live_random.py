"""Random lives of graphs, by hand as Spark would run them: queries come, go, and change plans."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.spark.hand_run import HandRun
from tidemill.graph.adaptation import Adaptation
from tidemill.graph.migrations import Migrations
from tidemill.graph.query_graph import QueryGraph
from tidemill.runtime.spark import state
from tidemill.testing.random_cases import graph_case
from tidemill.testing.random_graphs import GraphCase, GraphLife


@pytest.fixture(autouse=True)
def _no_memory() -> Iterator[None]:
    state._CACHE.clear()
    yield
    state._CACHE.clear()


class HandLife(GraphLife):
    """A graph whose rows are moved by hand."""

    def __init__(self, case: GraphCase, folder: str, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        super().__init__(case.inputs, case.random, folder)

    def _open(self) -> None:
        run = HandRun(self.inputs.feeds, self.folder, self._patch)
        self.run = run  # type: ignore[assignment]
        self.graph = QueryGraph(run)
        self.adaptation = Adaptation(self.graph)
        self.migrations = Migrations(self.graph, self.adaptation.taken)

    def crash(self) -> None:
        state._CACHE.clear()

    def tick_until_it_crashes(self) -> None:
        self.tick()
        self.crash()


@pytest.mark.parametrize("seed", [*range(6), 15])
def test_random_graphs(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = graph_case(Random(seed))
    life = HandLife(case, tmp_path.as_uri(), monkeypatch)
    try:
        case._live(life)
        for each in life.lives.values():
            each.check(case.inputs)
    except Exception as error:
        raise AssertionError("\n".join([str(error), *life.story])) from error
