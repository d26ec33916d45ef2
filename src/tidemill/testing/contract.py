"""A run that holds every operator to its contract, at every step."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tidemill.algebra.nodes import Scan
from tidemill.algebra.plan import Plan
from tidemill.physical.operator import Exec, empty_batch
from tidemill.physical.source import SourceExec
from tidemill.runtime.inprocess import Graph, Run
from tidemill.runtime.inprocess.feeds import Feed
from tidemill.runtime.inprocess.graph import Arrival
from tidemill.timeline import BEGIN, OPEN_END, VALID_FROM, VALID_TO


class ContractError(AssertionError):
    """An operator broke a promise on which the operators above it rely."""


class CheckedGraph(Graph):
    """A graph that checks what every node puts out.

    A wrong answer at the root shows that something is wrong; a broken promise shows where.
    """

    def __init__(self, root: Exec) -> None:
        super().__init__(root)
        self._promised: dict[Plan, int] = dict.fromkeys(self._order, BEGIN)
        self._expected = {node: empty_batch(node.schema).schema for node in self._order}

    def step(self, arrivals: Mapping[Scan, Arrival]) -> Arrival:
        for node in self._order:
            if isinstance(node, SourceExec):
                self._check(node, *arrivals[node.scan])
        return super().step(arrivals)

    def _run(self, node: Exec, inputs: list[Arrival]) -> Arrival:
        batch, watermark = super()._run(node, inputs)
        self._check(node, batch, watermark)
        return batch, watermark

    def _check(self, node: Exec, batch: pl.DataFrame, watermark: int) -> None:
        promised = self._promised[node]
        if batch.schema != self._expected[node]:
            raise _broken(node, f"columns {batch.schema}, not {self._expected[node]}")
        if batch.height and not (batch[VALID_FROM] < batch[VALID_TO]).all():
            raise _broken(node, f"a row that holds nowhere:\n{batch}")
        if batch.height and batch[VALID_FROM].to_numpy().min() < promised:
            raise _broken(node, f"a row that starts before the watermark {promised}:\n{batch}")
        if watermark < promised:
            raise _broken(node, f"its watermark went back from {promised} to {watermark}")
        self._promised[node] = watermark

    def check_end(self) -> None:
        """Fail if a node still holds something back although all input has ended."""
        for node, watermark in self._promised.items():
            if watermark != OPEN_END:
                raise _broken(node, f"its watermark stayed at {watermark} at the end of all input")


class CheckedRun(Run):
    """An execution whose operators are checked."""

    def __init__(self, plan: Exec, feeds: Mapping[str, Feed]) -> None:
        super().__init__(plan, feeds)
        self.graph: CheckedGraph = CheckedGraph(plan)


def _broken(node: Exec, what: str) -> ContractError:
    return ContractError(f"{node.label}: {what}")
