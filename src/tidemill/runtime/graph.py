"""Running operators: one for every different part of a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import polars as pl

from tidemill.algebra.plan import Plan
from tidemill.errors import ExecutionError
from tidemill.physical.join import JoinExec
from tidemill.physical.lookup import LookupExec
from tidemill.physical.operator import Exec, Operator, ends, starts
from tidemill.runtime.progress import OperatorProgress
from tidemill.timeline import BEGIN, OPEN_END

_SAMPLE = 1024

Arrival = tuple[pl.DataFrame, int]
"""New rows and the watermark behind which no more will start."""


@dataclass
class NodeProgress:
    """What an operator has done so far, and what it remembers: now, and at most after a tick.

    Of joins also: for how long the rows of each input held, together, and when they started.
    """

    label: str
    rows_out: int = 0
    state_rows: int = 0
    state_bytes: int = 0
    rows_in: Sequence[int] = ()
    held: Sequence[float] = ()
    first: int = OPEN_END
    last: int = BEGIN
    most_rows: int = 0
    most_bytes: int = 0
    measures: Mapping[str, float] = field(default_factory=dict)

    def keeps(self, rows: int, nbytes: int) -> None:
        """Take note of what the operator remembers now."""
        self.state_rows, self.state_bytes = rows, nbytes
        self.most_rows, self.most_bytes = max(rows, self.most_rows), max(nbytes, self.most_bytes)

    def took(self, inputs: Sequence[pl.DataFrame], joins: bool) -> None:
        """Take note of new rows."""
        self.rows_in = _added(self.rows_in, [rows.height for rows in inputs])
        if joins:
            self.held = _added(self.held, [_held(rows) for rows in inputs])
            for rows in inputs:
                if rows.height:
                    times = starts(rows)
                    self.first = min(self.first, int(times.min()))
                    self.last = max(self.last, int(times.max()))

    def merge(self, other: NodeProgress) -> None:
        """Take what the same operator has done in another partition into account."""
        self.rows_out += other.rows_out
        self.state_rows += other.state_rows
        self.state_bytes += other.state_bytes
        self.most_rows += other.most_rows
        self.most_bytes += other.most_bytes
        self.rows_in = _added(self.rows_in, other.rows_in)
        self.held = _added(self.held, other.held)
        self.first = min(self.first, other.first)
        self.last = max(self.last, other.last)
        names = {**self.measures, **other.measures}
        self.measures = {
            name: self.measures.get(name, 0.0) + other.measures.get(name, 0.0) for name in names
        }

    def summary(self) -> OperatorProgress:
        """What users get to see of it."""
        return OperatorProgress(
            self.label,
            self.rows_out,
            self.state_rows,
            self.state_bytes,
            sum(self.rows_in),
            self.most_rows,
            self.most_bytes,
            self.measures,
        )


_Number = TypeVar("_Number", int, float)


def _added(left: Sequence[_Number], right: Sequence[_Number]) -> Sequence[_Number]:
    return [a + b for a, b in zip(left, right, strict=True)] if left else list(right)


def _held(rows: pl.DataFrame) -> float:
    """How long rows hold, together: those that are looked at stand for all."""
    some = rows.head(_SAMPLE)
    return float((ends(some) - starts(some)).mean()) * rows.height if rows.height else 0.0


class Graph:
    """The operators of some plans. Equal parts are one operator, however often they occur."""

    def __init__(self, *roots: Exec, partition: int = 0) -> None:
        nodes = nodes_of(*roots)
        index = {node: number for number, node in enumerate(nodes)}
        self.nodes = nodes
        self.leaves = [node for node in nodes if not node.children]
        self.progress = [NodeProgress(node.label) for node in nodes]
        self._roots = [index[root] for root in roots]
        self._inputs = [[index[child] for child in _children(node)] for node in nodes]
        self._operators = [node.operator() if node.children else None for node in nodes]
        for operator in self._operators:
            if operator is not None:
                operator.start(partition)

    def step(self, arrivals: Sequence[Arrival]) -> list[Arrival]:
        """One tick: new rows at the leaves, in their order; new rows at the roots."""
        results: list[Arrival] = []
        leaves = iter(arrivals)
        for number, inputs in enumerate(self._inputs):
            operator = self._operators[number]
            if operator is None:
                results.append(next(leaves))
            else:
                results.append(self._run(number, operator, [results[i] for i in inputs]))
            self.progress[number].rows_out += results[-1][0].height
        return [results[root] for root in self._roots]

    def tell(self) -> dict[int, bytes]:
        """What operators, by number, want to be known in other partitions before the next tick."""
        told = {
            number: operator.tell()
            for number, operator in enumerate(self._operators)
            if operator is not None
        }
        return {number: news for number, news in told.items() if news is not None}

    def hear(self, told: Mapping[int, Mapping[int, bytes]]) -> None:
        """Let operators, by number, know what they told in every partition."""
        for number, news in told.items():
            operator = self._operators[number]
            assert operator is not None
            operator.hear(news)

    def _run(self, number: int, operator: Operator, inputs: list[Arrival]) -> Arrival:
        progress = self.progress[number]
        batches = [rows for rows, _ in inputs]
        progress.took(batches, joins=isinstance(self.nodes[number], JoinExec | LookupExec))
        try:
            result = operator.step(batches, [mark for _, mark in inputs])
        except ExecutionError as error:
            message = f"{error.message} (in {progress.label})"
            raise ExecutionError(message, help=error.help) from error
        progress.keeps(operator.state_rows, operator.state_bytes)
        progress.measures = operator.measures
        return result

    @property
    def state(self) -> Any:
        """All that the operators remember, as something that can be stored."""
        return self._operators, self.progress

    @state.setter
    def state(self, state: Any) -> None:
        self._operators, self.progress = state


def nodes_of(*roots: Exec) -> list[Exec]:
    """All different parts of plans, inputs first."""
    found: dict[Exec, None] = {}
    seen: set[int] = set()
    for root in roots:
        _add_bottom_up(root, found, seen)
    return list(found)


def _children(node: Plan) -> Iterator[Exec]:
    for child in node.children:
        assert isinstance(child, Exec)
        yield child


def _add_bottom_up(node: Exec, found: dict[Exec, None], seen: set[int]) -> None:
    """Inputs first; a part that occurs many times is looked through once."""
    if id(node) not in seen:
        seen.add(id(node))
        for child in _children(node):
            _add_bottom_up(child, found, seen)
        found.setdefault(node)
