"""A running plan: one operator for every different part of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from tidemill.algebra.nodes import Scan
from tidemill.algebra.plan import Plan
from tidemill.errors import ExecutionError
from tidemill.physical.operator import Exec, Operator
from tidemill.physical.source import SourceExec

Arrival = tuple[pl.DataFrame, int]
"""New rows and the watermark behind which no more will start."""


@dataclass
class NodeProgress:
    """What an operator has done so far, and what it remembers."""

    label: str
    rows_out: int = 0
    state_rows: int = 0
    state_bytes: int = 0


class Graph:
    """The operators of a plan. Equal subplans are one operator, however often they occur."""

    def __init__(self, root: Exec) -> None:
        self._root = root
        self._order = list(dict.fromkeys(_bottom_up(root)))
        self._operators: dict[Plan, Operator] = {
            node: node.operator() for node in self._order if not isinstance(node, SourceExec)
        }
        self.progress = {node: NodeProgress(node.label) for node in self._order}

    @property
    def scans(self) -> list[Scan]:
        return [node.scan for node in self._order if isinstance(node, SourceExec)]

    def step(self, arrivals: Mapping[Scan, Arrival]) -> Arrival:
        """One tick: new rows at the leaves, new rows at the root."""
        results: dict[Plan, Arrival] = {}
        for node in self._order:
            if isinstance(node, SourceExec):
                results[node] = arrivals[node.scan]
            else:
                inputs = [results[child] for child in node.children]
                results[node] = self._run(node, inputs)
            self.progress[node].rows_out += results[node][0].height
        return results[self._root]

    def _run(self, node: Exec, inputs: list[Arrival]) -> Arrival:
        operator = self._operators[node]
        try:
            result = operator.step([rows for rows, _ in inputs], [mark for _, mark in inputs])
        except ExecutionError as error:
            raise ExecutionError(f"{error.message} (in {node.label})", help=error.help) from error
        self.progress[node].state_rows = operator.state_rows
        self.progress[node].state_bytes = operator.state_bytes
        return result


def _bottom_up(node: Plan) -> Iterator[Exec]:
    for child in node.children:
        yield from _bottom_up(child)
    assert isinstance(node, Exec)
    yield node
